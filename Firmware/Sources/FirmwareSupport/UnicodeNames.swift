// The names of all characters are half a megabyte of the standard library, which no device prints. What looks for them is
// linked with these functions instead (`--wrap` in Package.swift): in firmware, a character has no name, and came with no
// version of Unicode.

/// Writes the name of a character, and returns its length.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }

/// The corrected name of a character, where there is one.
@_cdecl("__wrap__swift_stdlib_getNameAlias")
func aliasOfScalar(_ scalar: UInt32) -> UnsafePointer<CChar>? { nil }

/// The version of Unicode that a character came with, or the greatest number where there is none.
@_cdecl("__wrap__swift_stdlib_getAge")
func ageOfScalar(_ scalar: UInt32) -> UInt16 { .max }
