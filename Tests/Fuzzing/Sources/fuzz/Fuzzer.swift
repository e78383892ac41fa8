import CFuzzer
import Glibc

/// Runs libFuzzer on one entrance: `FUZZ_ENTRANCE=<entrance> fuzz [libFuzzer options, corpora and files...]`.
///
/// The entrance is in the environment because libFuzzer starts this program again with its own arguments.
/// `fuzz --list` prints the names of the entrances.
@main
struct Fuzzer {
    /// The entrance of this process, which the C function that libFuzzer takes cannot capture.
    nonisolated(unsafe) fileprivate static var entrance: Entrance?

    static func main() {
        if CommandLine.arguments.dropFirst().first == "--list" {
            for entrance in Entrance.all { print(entrance.name) }
            return
        }
        let name = getenv("FUZZ_ENTRANCE").map { String(cString: $0) } ?? ""
        guard let entrance = Entrance.all.first(where: { $0.name == name }) else {
            print(
                "FUZZ_ENTRANCE is \"\(name)\"; set it to one of: \(Entrance.all.map(\.name).joined(separator: ", "))."
            )
            exit(2)
        }
        Self.entrance = entrance
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, takeInput))
    }
}

/// Takes one input.
///
/// libFuzzer's own `main` refers to it by this name, although that one does not run.
@_cdecl("LLVMFuzzerTestOneInput")
func takeInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzer.entrance?.take(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
