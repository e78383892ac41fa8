// Functions that firmware does not need, but that would be linked and take half a megabyte.
//
// Callers are linked with these replacements instead (`--wrap` in Package.swift). In firmware, a character
// has no name, no Unicode version and no script, which only regular expressions query. The names of C++
// functions are printed in their mangled form.

/// Writes the name of a character and returns its length, which is always 0.
@_cdecl("__wrap__swift_stdlib_getScalarName")
func nameOfScalar(_ scalar: UInt32, _ buffer: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> Int { 0 }

/// Returns the corrected name of a character: always none.
@_cdecl("__wrap__swift_stdlib_getNameAlias")
func aliasOfScalar(_ scalar: UInt32) -> UnsafePointer<CChar>? { nil }

/// Returns the Unicode version of a character: always the greatest number, which means none.
@_cdecl("__wrap__swift_stdlib_getAge")
func ageOfScalar(_ scalar: UInt32) -> UInt16 { .max }

/// Returns the script of a character: always the number that means none.
@_cdecl("__wrap__swift_stdlib_getScript")
func scriptOfScalar(_ scalar: UInt32) -> UInt8 { .max }

/// Returns the further scripts of a character: always none.
@_cdecl("__wrap__swift_stdlib_getScriptExtensions")
func furtherScriptsOfScalar(
    _ scalar: UInt32,
    _ count: UnsafeMutablePointer<UInt8>
) -> UnsafePointer<UInt8>? {
    count.pointee = 0
    return nil
}

/// Returns the demangled name of a C++ function or type: always none, with the status for an invalid name.
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
