package wakefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// Kind tells what a file holds.
type Kind string

// The kinds of file that exist.
const (
	Embedding Kind = "embed" // weights of the speech embedding
	Mel       Kind = "mel"   // window and filters of the front end
	Bank      Kind = "bank"  // other people's speech as embeddings
	Word      Kind = "word"  // an enrolled wake word
)

// Type is the type of a section's elements.
type Type byte

// The element types.
const (
	Bytes   Type = 1 // text or anything opaque
	Int8    Type = 2
	Float32 Type = 3
)

const (
	magic       = "HAWAKE\r\n"
	headerSize  = 24
	maxSections = 256
	maxName     = 64
	maxDims     = 4
	// maxElements bounds the product of a shape before anything is multiplied further.
	maxElements = 1 << 28
)

// ErrDamaged is wrapped by every error about bytes that are not a whole file
// of this format: cut short, altered, or something else altogether.
var ErrDamaged = errors.New("file is damaged")

// KindError is a whole file of another kind, or of a version that this program
// is too old for.
type KindError struct {
	Got, Want              Kind
	GotVersion, MaxVersion uint32
}

func (e *KindError) Error() string {
	if e.Got != e.Want {
		return fmt.Sprintf("file holds %q where %q is needed", e.Got, e.Want)
	}
	return fmt.Sprintf("%q file has version %d, this program reads up to %d", e.Got, e.GotVersion, e.MaxVersion)
}

// Section is one named array.
type Section struct {
	Name  string
	Type  Type
	Shape []int
	// Data are the elements as they lie in the file.
	Data []byte
}

// File is the content of one file.
type File struct {
	Kind     Kind
	Version  uint32
	Sections []Section
	sum      [sha256.Size]byte
}

// ID names the content of a decoded file: the first 16 hexadecimal digits of
// its checksum.
func (f *File) ID() string { return hex.EncodeToString(f.sum[:8]) }

func size(t Type) int {
	switch t {
	case Bytes, Int8:
		return 1
	case Float32:
		return 4
	}
	return 0
}

// elements multiplies a shape; false means that it is negative or absurdly large.
func elements(shape []int) (int, bool) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > maxElements {
			return 0, false
		}
		n *= d
		if n > maxElements {
			return 0, false
		}
	}
	return n, true
}

// AddFloat32 appends an array of float32. It panics when shape and values
// disagree, which is a fault of the caller's code.
func (f *File) AddFloat32(name string, values []float32, shape ...int) {
	data := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
	f.add(Section{Name: name, Type: Float32, Shape: shape, Data: data})
}

// AddInt8 appends an array of int8; see AddFloat32.
func (f *File) AddInt8(name string, values []int8, shape ...int) {
	data := make([]byte, len(values))
	for i, v := range values {
		data[i] = byte(v)
	}
	f.add(Section{Name: name, Type: Int8, Shape: shape, Data: data})
}

// AddText appends a text as an array of bytes.
func (f *File) AddText(name, text string) {
	f.add(Section{Name: name, Type: Bytes, Shape: []int{len(text)}, Data: []byte(text)})
}

func (f *File) add(s Section) {
	n, ok := elements(s.Shape)
	if !ok || n*size(s.Type) != len(s.Data) || len(s.Name) == 0 || len(s.Name) > maxName || len(s.Shape) > maxDims {
		panic(fmt.Sprintf("wakefile: section %q: shape %v does not hold %d bytes", s.Name, s.Shape, len(s.Data)))
	}
	f.Sections = append(f.Sections, s)
}

// Encode returns the file's bytes.
func (f *File) Encode() []byte {
	var b bytes.Buffer
	b.WriteString(magic)
	var kind [8]byte
	copy(kind[:], f.Kind)
	b.Write(kind[:])
	le := binary.LittleEndian
	b.Write(le.AppendUint32(nil, f.Version))
	b.Write(le.AppendUint32(nil, uint32(len(f.Sections))))
	for _, s := range f.Sections {
		b.WriteByte(byte(len(s.Name)))
		b.WriteString(s.Name)
		b.WriteByte(byte(s.Type))
		b.WriteByte(byte(len(s.Shape)))
		for _, d := range s.Shape {
			b.Write(le.AppendUint32(nil, uint32(d)))
		}
		b.Write(s.Data)
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

// Decode reads a file of the given kind and at most the given version. The
// sections share memory with data. Errors wrap ErrDamaged or are a *KindError.
func Decode(data []byte, kind Kind, maxVersion uint32) (*File, error) {
	if len(data) < headerSize+sha256.Size || string(data[:8]) != magic {
		return nil, fmt.Errorf("%w: no header of this format", ErrDamaged)
	}
	body := data[:len(data)-sha256.Size]
	if sha256.Sum256(body) != [sha256.Size]byte(data[len(body):]) {
		return nil, fmt.Errorf("%w: checksum differs", ErrDamaged)
	}
	le := binary.LittleEndian
	name, pad, _ := bytes.Cut(body[8:16], []byte{0})
	if len(bytes.Trim(pad, "\x00")) != 0 {
		return nil, fmt.Errorf("%w: kind is not padded with zeros", ErrDamaged)
	}
	f := &File{Kind: Kind(name), Version: le.Uint32(body[16:])}
	if f.Kind != kind || f.Version > maxVersion || f.Version == 0 {
		return nil, &KindError{Got: f.Kind, Want: kind, GotVersion: f.Version, MaxVersion: maxVersion}
	}
	count := le.Uint32(body[20:])
	if count > maxSections {
		return nil, fmt.Errorf("%w: %d sections", ErrDamaged, count)
	}
	copy(f.sum[:], data[len(body):])
	rest := body[headerSize:]
	for range count {
		s, r, err := section(rest)
		if err != nil {
			return nil, err
		}
		if f.find(s.Name) != nil {
			return nil, fmt.Errorf("%w: two sections %q", ErrDamaged, s.Name)
		}
		f.Sections = append(f.Sections, s)
		rest = r
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last section", ErrDamaged, len(rest))
	}
	return f, nil
}

func section(b []byte) (s Section, rest []byte, err error) {
	short := fmt.Errorf("%w: a section is cut short", ErrDamaged)
	if len(b) < 1 {
		return s, nil, short
	}
	n := int(b[0])
	if n == 0 || n > maxName || len(b) < 1+n+2 {
		return s, nil, short
	}
	s.Name, s.Type = string(b[1:1+n]), Type(b[1+n])
	dims := int(b[2+n])
	b = b[3+n:]
	if size(s.Type) == 0 || dims > maxDims || len(b) < 4*dims {
		return s, nil, fmt.Errorf("%w: section %q has type %d and %d dimensions", ErrDamaged, s.Name, s.Type, dims)
	}
	for i := range dims {
		d := binary.LittleEndian.Uint32(b[4*i:])
		if d > maxElements {
			return s, nil, fmt.Errorf("%w: section %q is too large", ErrDamaged, s.Name)
		}
		s.Shape = append(s.Shape, int(d))
	}
	b = b[4*dims:]
	count, ok := elements(s.Shape)
	if !ok || count*size(s.Type) > len(b) {
		return s, nil, short
	}
	s.Data = b[:count*size(s.Type)]
	return s, b[len(s.Data):], nil
}

func (f *File) find(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// get finds a section of a type and shape; -1 stands for any length.
func (f *File) get(name string, t Type, shape []int) (*Section, error) {
	s := f.find(name)
	if s == nil {
		return nil, fmt.Errorf("%w: %q has no section %q", ErrDamaged, f.Kind, name)
	}
	ok := s.Type == t && len(s.Shape) == len(shape)
	for i := 0; ok && i < len(shape); i++ {
		ok = shape[i] < 0 || shape[i] == s.Shape[i]
	}
	if !ok {
		return nil, fmt.Errorf("%w: section %q has type %d and shape %v, wanted type %d and %v",
			ErrDamaged, name, s.Type, s.Shape, t, shape)
	}
	return s, nil
}

// Float32 returns a copy of a float32 section's values and its shape. In the
// wanted shape -1 stands for any length. Values that are not finite are refused.
func (f *File) Float32(name string, shape ...int) ([]float32, []int, error) {
	s, err := f.get(name, Float32, shape)
	if err != nil {
		return nil, nil, err
	}
	out := make([]float32, len(s.Data)/4)
	for i := range out {
		v := math.Float32frombits(binary.LittleEndian.Uint32(s.Data[4*i:]))
		if v != v || v > math.MaxFloat32 || v < -math.MaxFloat32 {
			return nil, nil, fmt.Errorf("%w: section %q holds a value that is no number", ErrDamaged, name)
		}
		out[i] = v
	}
	return out, s.Shape, nil
}

// Int8 returns a copy of an int8 section's values and its shape; see Float32.
func (f *File) Int8(name string, shape ...int) ([]int8, []int, error) {
	s, err := f.get(name, Int8, shape)
	if err != nil {
		return nil, nil, err
	}
	out := make([]int8, len(s.Data))
	for i, b := range s.Data {
		out[i] = int8(b)
	}
	return out, s.Shape, nil
}

// Text returns a section of bytes as text.
func (f *File) Text(name string) (string, error) {
	s, err := f.get(name, Bytes, []int{-1})
	if err != nil {
		return "", err
	}
	return string(s.Data), nil
}
