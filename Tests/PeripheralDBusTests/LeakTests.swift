import BusTestSupport
import Glibc
import PeripheralDBus
import Testing

/// The limit is one for the thread sanitizer on a slow machine.
@Suite(.timeLimit(.minutes(5)))
struct LeakTests {
    /// In a process of its own, where nothing else opens files or takes memory.
    @Test func tenThousandCallsLeaveNothingBehind() async throws {
        await #expect(processExitsWith: .success) {
            try await TestBus.run { test in
                let tasks = LoopTasks(on: test.loop)
                async let scope: Void = tasks.run()
                try await test.server.export(.echo("/echo", "aya{sv}"))
                try await test.server.export(.echo("/file", "h"))
                try await test.server.export(
                    .method("/task", "", "ay") { _, reply in
                        let reply = reply.deferred()
                        tasks.start { reply.send(bytes: [1, 2, 3]) }
                    }
                )
                let descriptor = OwnedFileDescriptor(adopting: dup(0))
                func callAll(_ rounds: Int) async throws {
                    for round in 0..<rounds {
                        _ = try await test.call(
                            "/echo",
                            "test.Echo",
                            "Echo",
                            [.bytes([1, 2]), .properties(["mtu": .uint16(517)])]
                        )
                        _ = try await test.call("/task", "test.M", "Call")
                        _ = await test.error(of: "/nowhere", "test.M", "Call")
                        if round % 10 == 0 {
                            _ = try await test.call(
                                "/file",
                                "test.Echo",
                                "Echo",
                                [.fileDescriptor(descriptor)]
                            )
                        }
                    }
                }
                try await callAll(500)
                let (files, memory) = (entries(of: "/proc/self/fd"), residentPages())
                try await callAll(3_300)
                // One descriptor left for each call that carries one would be hundreds; the runtime may open
                // a few.
                try #require(entries(of: "/proc/self/fd") < files + 10)
                // A message takes some 500 bytes: a leak of one for each call would be 5 MB, these are 2.
                try #require(residentPages() < memory + 500)
                tasks.finish()
                await scope
            }
        }
    }

    @Test func connectionsLeaveNoFileOpen() async throws {
        await #expect(processExitsWith: .success) {
            try await TestBus.run { _ in }
            let before = entries(of: "/proc/self/fd")
            for _ in 0..<20 { try await TestBus.run { _ in } }
            // A connection and its loop have several each.
            try #require(entries(of: "/proc/self/fd") < before + 10)
        }
    }
}

/// How much memory the process really takes, in pages.
private func residentPages() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 100)
    guard fgets(&line, CInt(line.count), file) != nil else { return 0 }
    let fields = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
}
