package home

// Default is the household of a box that nobody has configured: living room,
// kitchen and bedroom with a virtual lamp each. Every call returns a new value.
func Default() *Home {
	room := func(id, zh string, en ...string) Room {
		return Room{Name: id, Aliases: Names{"zh": {zh}, "en": en}}
	}
	lamp := func(room, zh, en string) Device {
		id := room + "_lamp"
		return Device{
			Name: id, Kind: "lamp", Room: room,
			Aliases: Names{
				"zh": {zh + "灯", zh + "的灯", zh + "电灯", zh + "的电灯"},
				"en": {en + " lamp", en + " light"},
			},
			Tool: "virtual_set", Args: map[string]string{"name": id},
		}
	}
	return &Home{
		Rooms: []Room{
			room("living_room", "客厅", "living room"),
			room("kitchen", "厨房", "kitchen"),
			room("bedroom", "卧室", "bedroom"),
		},
		Devices: []Device{
			lamp("living_room", "客厅", "living room"),
			lamp("kitchen", "厨房", "kitchen"),
			lamp("bedroom", "卧室", "bedroom"),
		},
	}
}
