import Glibc
import PeripheralDBus
import Testing

@Suite(.timeLimit(.minutes(1)))
struct QueuedWorkTests {
    /// The loop finds two descriptors ready at once; what is queued while it serves the first comes before
    /// the bus.
    @Test func whatIsQueuedBeforeTheBusIsReadComesFirst() async throws {
        try await FakeBus.run(greeting: .followedByAPause) { bus, loop in
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reader, writer) = (
                OwnedFileDescriptor(adopting: ends[0]), OwnedFileDescriptor(adopting: ends[1])
            )
            let order = Signal<String>()
            loop.execute {
                var source: LoopSource?
                source = loop.watch(fileDescriptor: reader.descriptor, events: .readable) { _ in
                    source?.cancel()
                    loop.execute { order.send("queued work") }
                }
            }
            let connection = try await BusConnection.connect(to: .address(bus.address), on: loop)
            await connection.onLoss { order.send("the end of the bus") }
            loop.execute {
                write(writer.descriptor, [1] as [UInt8], 1)
                bus.end()
            }
            #expect(await order.next() == "queued work")
            #expect(await order.next() == "the end of the bus")
        }
    }
}
