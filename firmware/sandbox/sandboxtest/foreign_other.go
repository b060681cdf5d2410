//go:build !amd64

package sandboxtest

// foreign is nil: the boards' kernels run no other interface than their own.
var foreign func() error
