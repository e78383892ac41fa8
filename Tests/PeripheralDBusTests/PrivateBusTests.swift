import Glibc
import PeripheralDBus
import PeripheralEmulator
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PrivateBusTests {
    private func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    @Test func aBusLeavesNoDirectory() async throws {
        let bus = try await PrivateBus()
        let socket = String(bus.address.dropFirst("unix:path=".count))
        let directory = String(socket.dropLast("/bus".count))
        #expect(exists(socket))
        bus.stop()
        bus.stop()
        #expect(!exists(directory))
    }

    @Test func theErrorNamesTheDirectoryForTemporaryFiles() {
        let missing = #expect(throws: PrivateBus.StartError.self) {
            try PrivateBus.makeDirectory(in: "/nonexistent/tmp")
        }
        #expect(
            missing?.description
                == "no directory for a private message bus can be created in /nonexistent/tmp "
                + "(No such file or directory); set TMPDIR to a directory that this program can write"
        )
        let long = #expect(throws: PrivateBus.StartError.self) {
            try PrivateBus.makeDirectory(in: "/" + String(repeating: "x", count: 90))
        }
        #expect(long?.description.hasSuffix("set TMPDIR to a directory with a shorter path") == true)
    }

    @Test func aBusEndsWithItsLastReference() async throws {
        var bus: PrivateBus? = try await PrivateBus()
        let address = try #require(bus?.address)
        bus = nil
        let loop = EventLoop()
        await #expect(throws: BusError.self) {
            try await BusConnection.connect(to: .address(address), on: loop)
        }
        await loop.stop()
    }

    @Test func theDaemonDoesNotOutliveAKilledProcess() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let bus = try await PrivateBus()
            print("<\(bus.address)>")
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let address = try #require(output.split(separator: "<").last?.split(separator: ">").first)
        let loop = EventLoop()
        // The daemon may be met in its last moments; then its end is awaited.
        if let connection = try? await BusConnection.connect(to: .address(String(address)), on: loop) {
            let lost = Signal<Void>()
            await connection.onLoss { lost.send() }
            await lost.next()
        }
        await loop.stop()
        let socket = String(address.dropFirst("unix:path=".count))
        for path in [socket, socket + ".conf"] { unlink(path) }
        rmdir(String(socket.dropLast("/bus".count)))
    }

    @Test func withoutADaemonTheErrorSaysWhatToInstall() async throws {
        await #expect(processExitsWith: .success) {
            setenv("PATH", "/nonexistent", 1)
            do {
                _ = try await PrivateBus()
                exit(1)
            } catch {
                try #require("\(error)".contains("install the package \"dbus\""))
            }
        }
    }
}
