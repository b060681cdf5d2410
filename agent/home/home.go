package home

// Names are words for one thing by language ("zh", "en"). The first is how the
// agent itself calls it.
type Names map[string][]string

// Room is a place of the household.
type Room struct {
	// Name is the room's id, [a-z][a-z0-9_]*.
	Name    string `yaml:"name" json:"name"`
	Aliases Names  `yaml:"aliases" json:"aliases"`
}

// Device is a thing that a tool can switch or read.
type Device struct {
	// Name is the device's id, [a-z][a-z0-9_]*.
	Name string `yaml:"name" json:"name"`
	// Kind is lamp, switch, plug, fan, heater, blind, sensor or a word of the user's.
	Kind    string `yaml:"kind" json:"kind"`
	Room    string `yaml:"room" json:"room"`
	Aliases Names  `yaml:"aliases" json:"aliases"`
	// Tool is called with Args, to which an intent adds its own ("state": "on").
	Tool string            `yaml:"tool" json:"tool"`
	Args map[string]string `yaml:"args" json:"args"`
}

// Home is the household.
type Home struct {
	Rooms   []Room   `yaml:"rooms" json:"rooms"`
	Devices []Device `yaml:"devices" json:"devices"`
}

// Room finds a room by its id.
func (h *Home) Room(name string) (Room, bool) {
	for _, r := range h.Rooms {
		if r.Name == name {
			return r, true
		}
	}
	return Room{}, false
}

// Device finds a device by its id.
func (h *Home) Device(name string) (Device, bool) {
	for _, d := range h.Devices {
		if d.Name == name {
			return d, true
		}
	}
	return Device{}, false
}
