import PeripheralBlueZ
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Listeners that the kernel refuses, and listeners that return.
@Suite(.timeLimit(.minutes(1)))
struct ListenerTests {
    /// A kernel that refuses each listener.
    private struct RefusingKernel: KernelLinks {
        let failure: ChannelListenerFailure

        func links(of adapter: ObjectPath) -> [LinkState]? { [] }

        func listen(
            _ request: ListenerRequest,
            on loop: EventLoop,
            _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
        ) throws(ChannelListenerFailure) -> any ChannelListener {
            throw failure
        }
    }

    private static func peripheral(_ listener: L2CAPListener) -> Peripheral {
        Peripheral("Listener") {
            GATTService(.battery) { listener.psm }
            listener
        }
    }

    private static let echo: @Sendable (L2CAPChannel) async throws -> Void = { channel in
        for await packet in channel { try await channel.send(packet) }
    }

    private func run(_ psm: L2CAPListener.PSM, _ failure: ChannelListenerFailure) async throws {
        try await withEmulatedBlueZ { bluez in
            let backend = BlueZBackend(
                recovery: .never,
                bus: .address(bluez.busAddress),
                kernelLinks: RefusingKernel(failure: failure)
            )
            let peripheral = Self.peripheral(L2CAPListener(psm: psm, Self.echo))
            try await peripheral.run(on: backend, logger: .silent) { _ in }
        }
    }

    @Test func missingCapabilityIsAnErrorOfTheDeclaration() async throws {
        let error = await #expect(throws: DeclarationError.self) { try await run(.fixed(0x25), .forbidden) }
        #expect(error?.issues.first?.element == "L2CAP listener 1")
        #expect(error?.issues.first?.reason == "the PSM 0x25 requires the capability CAP_NET_BIND_SERVICE")
    }

    @Test(arguments: [
        (ChannelListenerFailure.taken, PeripheralError.Code.rejected),
        (.noSockets, .permissionDenied), (.failed(12), .rejected),
    ])
    func refusalOfTheKernelEndsTheRun(failure: ChannelListenerFailure, code: PeripheralError.Code)
        async throws
    {
        let error = await #expect(throws: PeripheralError.self) { try await run(.fixed(0x90), failure) }
        #expect(error?.code == code)
        #expect(error?.message.contains("L2CAP listener 1") == true)
    }

    @Test func takenFixedNumberIsAnErrorInMemory() async throws {
        let backend = InMemoryBackend()
        let first = Self.peripheral(L2CAPListener(psm: .fixed(0x90), Self.echo))
        let second = Self.peripheral(L2CAPListener(psm: .fixed(0x90), Self.echo))
        try await first.run(on: backend, logger: .silent) { _ in
            let error = await #expect(throws: PeripheralError.self) {
                try await second.run(on: backend, logger: .silent) { _ in }
            }
            #expect(error?.code == .rejected)
        }
        // The number is free again.
        try await second.run(on: backend, logger: .silent) { _ in }
    }

    /// While bluetoothd is away, no central is connected, and the listener returns with its number.
    @Test(arguments: [L2CAPListener.PSM.any, .fixed(0x90)])
    func listenerReturnsWithItsNumber(psm: L2CAPListener.PSM) async throws {
        let listener = L2CAPListener(psm: psm, Self.echo)
        let peripheral = Self.peripheral(listener)
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                let number = try session.psm(of: listener)
                let central = bluez.central(for: peripheral)
                try await central.connect()
                let channel = try await central.openChannel(psm: number)
                try await channel.send([1])
                #expect(try await channel.receive() == [1])
                await bluez.killDaemon()
                try await until { !session.state.isOnTheAir }
                #expect(try await channel.receive() == nil)
                try await until { (try? session.psm(of: listener)) == nil }
                try await bluez.startDaemon()
                try await until { session.state.isOnTheAir }
                #expect(try session.psm(of: listener) == number)
                try await central.connect()
                let next = try await central.openChannel(psm: central.read(listener.psm))
                try await next.send([2])
                #expect(try await next.receive() == [2])
            }
        }
    }
}
