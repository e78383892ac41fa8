// What no device prints or asks for, and would be linked nevertheless, half a megabyte of it. Who looks for it is linked with these
// functions instead (`--wrap` in Package.swift): in firmware, a character has no name, came with no version of Unicode and belongs to
// no script, of which only regular expressions ask; and the names of C++ functions are told as they are linked.

/// Writes the name of a character, and returns its length.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }

/// The corrected name of a character, where there is one.
@_cdecl("__wrap__swift_stdlib_getNameAlias")
func aliasOfScalar(_ scalar: UInt32) -> UnsafePointer<CChar>? { nil }

/// The version of Unicode that a character came with, or the greatest number where there is none.
@_cdecl("__wrap__swift_stdlib_getAge")
func ageOfScalar(_ scalar: UInt32) -> UInt16 { .max }

/// The script that a character belongs to: the number of none.
@_cdecl("__wrap__swift_stdlib_getScript")
func scriptOfScalar(_ scalar: UInt32) -> UInt8 { .max }

/// The further scripts of a character.
@_cdecl("__wrap__swift_stdlib_getScriptExtensions")
func furtherScriptsOfScalar(
    _ scalar: UInt32,
    _ count: UnsafeMutablePointer<UInt8>
) -> UnsafePointer<UInt8>? {
    count.pointee = 0
    return nil
}

/// The readable name of a C++ function or type, or none, with the status that says that the name is not valid.
@_cdecl("__wrap___cxa_demangle")
func readableName(
    of name: UnsafePointer<CChar>?,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ length: UnsafeMutablePointer<Int>?,
    _ status: UnsafeMutablePointer<Int32>?
) -> UnsafeMutablePointer<CChar>? {
    status?.pointee = -2
    return nil
}
