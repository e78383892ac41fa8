import Glibc
import PeripheralKit
import PeripheralStorage

/// The process that the tests of the storage lock out, kill, or give a full disk.
///
/// It reports each step to its parent in a line. It ends when the parent no longer reads.
@main
struct StorageTestHelper {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let command = arguments.first, let identifier = arguments.last else {
            fatalError("usage: storage-test-helper hold|save|limit|full|read-only DIRECTORY IDENTIFIER")
        }
        let path = arguments[arguments.startIndex + 1]
        let store = StateDirectory(path: path)
        do {
            switch command {
            case "hold": try await hold(store, identifier)
            case "save": try await save(store, identifier)
            case "limit": try await saveBeyondLimit(store, identifier)
            case "full": try await saveOnFullDisk(path, identifier)
            case "read-only": try await saveOnReadOnlyDisk(path, identifier)
            default: fatalError("no such command: \(command)")
            }
        } catch let error as RestorationError {
            say(error.code.description)
        } catch {
            say("\(error)")
        }
    }

    /// Keeps a record open until the parent says a byte, or kills this process.
    private static func hold(_ store: StateDirectory, _ identifier: String) async throws {
        let record = try await store.open(identifier)
        say("open")
        var byte: UInt8 = 0
        _ = read(STDIN_FILENO, &byte, 1)
        await record.close()
    }

    /// Saves one document after another, and says the number of each once it is saved.
    private static func save(_ store: StateDirectory, _ identifier: String) async throws {
        let record = try await store.open(identifier)
        let last = try await record.load()?["Document"]?["Number"].flatMap { Int($0) }
        for number in ((last ?? 0) + 1)...1_000_000 {
            try await record.save(restorationState(number))
            say("\(number)")
        }
    }

    /// Saves a document, and then one that is larger than what this process may write.
    private static func saveBeyondLimit(_ store: StateDirectory, _ identifier: String) async throws {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        try await saveTwice(in: store, identifier)
    }

    /// The same in a file system that has too little room.
    private static func saveOnFullDisk(_ path: String, _ identifier: String) async throws {
        guard mountSmallFileSystem(at: path) else { return say("unavailable") }
        try await saveTwice(in: StateDirectory(path: path), identifier)
    }

    /// Saves a document, and then another one after the file system was made read-only.
    private static func saveOnReadOnlyDisk(_ path: String, _ identifier: String) async throws {
        guard mountSmallFileSystem(at: path) else { return say("unavailable") }
        let store = StateDirectory(path: path)
        let record = try await store.open(identifier)
        try await record.save(restorationState(1))
        guard mount("none", path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            return say("unavailable")
        }
        await sayOutcome { () throws(RestorationError) in try await record.save(restorationState(2)) }
        await sayOutcome { () throws(RestorationError) in _ = try await record.setAside() }
        await record.close()
        let again = try await store.open(identifier)
        say(try await again.load() == restorationState(1) ? "intact" : "changed")
        await sayOutcome { () throws(RestorationError) in _ = try await store.open("never opened before") }
        await sayOutcome { () throws(RestorationError) in try await again.erase() }
        say(try await again.load() == restorationState(1) ? "intact" : "changed")
    }

    private static func saveTwice(in store: StateDirectory, _ identifier: String) async throws {
        let record = try await store.open(identifier)
        try await record.save(restorationState(1))
        var group = RestorationState.Group("Document")
        group["Text"] = String(repeating: "x", count: 200_000)
        var large = RestorationState()
        large.append(group)
        await sayOutcome { () throws(RestorationError) in try await record.save(large) }
        say(try await record.load() == restorationState(1) ? "intact" : "changed")
    }

    /// A document with `number % 97` further entries, each with the number as its value.
    private static func restorationState(_ number: Int) -> RestorationState {
        var group = RestorationState.Group("Document")
        group["Number"] = "\(number)"
        for position in 0..<(number % 97) { group["Entry-\(position)"] = "\(number)" }
        var restorationState = RestorationState()
        restorationState.append(group)
        return restorationState
    }

    private static func sayOutcome(_ body: () async throws(RestorationError) -> Void) async {
        do throws(RestorationError) {
            try await body()
            say("done")
        } catch {
            say(error.code.description)
        }
    }

    /// Mounts 64 KB of memory at a path, in the mount namespace of this process; `false` where the system
    /// does not permit it.
    private static func mountSmallFileSystem(at path: String) -> Bool {
        mount("none", path, "tmpfs", 0, "size=64k,mode=0700") == 0
    }

    private static func say(_ line: String) {
        let text = line + "\n"
        guard write(STDOUT_FILENO, text, text.utf8.count) == text.utf8.count else { exit(1) }
    }
}
