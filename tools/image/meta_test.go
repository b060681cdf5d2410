package main

import (
	"errors"
	"slices"
	"testing"

	"homeagent/tools/image/kernel"
)

// The root is held to what a board's file promises: a driver as a file or in
// the kernel, a firmware file itself or at the end of its links.
func TestPromised(t *testing.T) {
	modules := kernel.ParseModules(nil, []byte("kernel/drivers/pci/pcie-brcmstb.ko\n"), nil)
	root := tree{
		"usr/lib/modules/6.12/kernel/drivers/net/smsc95xx.ko":    {},
		"usr/lib/firmware/brcm/brcmfmac43430-sdio.bin":           {link: "../cypress/cyfmac43430-sdio.bin"},
		"usr/lib/firmware/cypress/cyfmac43430-sdio.bin":          {},
		"usr/lib/firmware/brcm/brcmfmac43455-sdio.bin":           {link: "../cypress/gone.bin"},
		"usr/lib/firmware/brcm/loop.bin":                         {link: "loop.bin"},
		"usr/lib/firmware/brcm/brcmfmac43430-sdio.zero-2-w.txt":  {link: "/usr/lib/firmware/brcm/brcmfmac43430-sdio.3-model-b.txt"},
		"usr/lib/firmware/brcm/brcmfmac43430-sdio.3-model-b.txt": {},
	}
	tests := []struct {
		name, modules, wifi string
		lacks, without      []string
	}{
		{"all there", "smsc95xx pcie_brcmstb", "brcm/brcmfmac43430-sdio.bin brcm/brcmfmac43430-sdio.zero-2-w.txt", nil, nil},
		{"a driver under another name", "bcmgenet smsc95xx", "", []string{"bcmgenet"}, nil},
		{"a link into nothing, a ring", "", "brcm/brcmfmac43455-sdio.bin brcm/loop.bin", nil, []string{"brcm/brcmfmac43455-sdio.bin", "brcm/loop.bin"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := meta{"MODULES": tt.modules, "WIFI": tt.wifi}.promised(root, modules)
			var e *MissingError
			if !errors.As(err, &e) {
				e = &MissingError{}
			}
			if !slices.Equal(e.Modules, tt.lacks) || !slices.Equal(e.Firmware, tt.without) {
				t.Errorf("got %v", err)
			}
		})
	}
}
