import PeripheralDBus
import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct ServiceReporterTests {
    /// A program that gives signs of life, as a service manager sees it.
    private struct Program {
        let loop = EventLoop(name: "program")
        let listener: NotificationListener
        let reporter: ServiceReporter

        init() throws {
            listener = try NotificationListener()
            reporter = ServiceReporter(
                to: SystemdNotifier(socket: listener.address, watchdogInterval: .milliseconds(20)),
                on: loop,
                logger: .silent
            )
            reporter.start()
        }

        func live(signs: Int) async throws {
            for _ in 0..<signs { _ = try await listener.told { $0 == "WATCHDOG=1" } }
        }

        func end() async {
            await reporter.close()
            await loop.stop()
        }
    }

    @Test func whoseLoopHangsGivesNoSign() async throws {
        let sound = try Program()
        let hung = try Program()
        try await hung.live(signs: 3)
        let hangs = Atomic<Bool>(false)
        let mayGoOn = Atomic<Bool>(false)
        hung.loop.execute {
            hangs.store(true, ordering: .releasing)
            while !mayGoOn.load(ordering: .acquiring) {}
        }
        try await until { hangs.load(ordering: .acquiring) }
        while hung.listener.next() != nil {}
        try await sound.live(signs: 10)
        #expect(hung.listener.next() == nil)
        mayGoOn.store(true, ordering: .releasing)
        try await hung.live(signs: 3)
        await sound.end()
        await hung.end()
    }

    @Test func givesNoSignWhenItHasEnded() async throws {
        let sound = try Program()
        let ended = try Program()
        try await ended.live(signs: 1)
        await ended.reporter.close()
        while ended.listener.next() != nil {}
        try await sound.live(signs: 10)
        #expect(ended.listener.next() == nil)
        await sound.end()
        await ended.end()
    }

    @Test(arguments: [
        "@nobody-listens-here", "vsock:2:1234", "/nonexistent/notify", String(repeating: "@", count: 200),
    ])
    func saysWhenNobodyListens(socket: String) async throws {
        let log = LogRecorder()
        let loop = EventLoop(name: "program")
        let reporter = ServiceReporter(
            to: SystemdNotifier(socket: socket, watchdogInterval: .milliseconds(20)),
            on: loop,
            logger: log.logger
        )
        reporter.start()
        reporter.note(PeripheralState(reason: "Nothing is there."))
        try await until { !log.lines.isEmpty }
        #expect(log.lines.allSatisfy { $0.contains("cannot reach the socket of the service manager") })
        await reporter.close()
        await loop.stop()
    }
}
