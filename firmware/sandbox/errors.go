package sandbox

import "homeagent/firmware/words"

// ProgramError is what Start returns when the sandbox could be made but the
// program could not be started in it: it is not there, or is no program.
type ProgramError struct{ text words.Text }

var _ words.Speaker = (*ProgramError)(nil)

// Error is the English sentence.
func (e *ProgramError) Error() string { return e.text.EN }

// In returns the sentence in Chinese for "zh" and in English for anything else.
func (e *ProgramError) In(lang string) string { return e.text.In(lang) }

// cannot is the error of a sandbox that could not be made. step says what was tried.
func cannot(step string, err error) *words.Error {
	return words.Errorf("沙箱建不起来，程序没有运行（%s：%v）；请用 homectl logs 查看日志，并确认内核支持命名空间和 seccomp",
		"the sandbox cannot be made, so the program was not run (%s: %v); look at homectl logs, and check that the kernel has namespaces and seccomp",
		step, err)
}
