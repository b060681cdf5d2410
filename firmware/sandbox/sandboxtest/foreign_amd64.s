#include "textflag.h"

// func int80(number, arg uint32) (result int32)
TEXT ·int80(SB), NOSPLIT, $0-12
	MOVL number+0(FP), AX
	MOVL arg+4(FP), BX
	MOVL $0, CX
	MOVL $0, DX
	INT  $0x80
	MOVL AX, result+8(FP)
	RET
