import Testing

@testable import PeripheralKit

/// Listeners that are cancelled while events are sent.
@Suite(.timeLimit(.minutes(1)))
struct BroadcastTests {
    /// Swift holds a lock of the listening task while it cancels the task, and needs this lock to resume it.
    @Test func aCancelledListenerDoesNotBlockTheSender() async {
        let broadcast = Broadcast<Int>(capacity: 4)
        let sender = Task.detached {
            var number = 0
            while !Task.isCancelled {
                broadcast.send(number)
                number += 1
                await Task.yield()
            }
        }
        for _ in 0..<20_000 {
            let listener = Task.detached { for await _ in broadcast.listen() {} }
            await Task.yield()
            listener.cancel()
            await listener.value
        }
        sender.cancel()
        await sender.value
        broadcast.finish()
        var events = broadcast.listen().makeAsyncIterator()
        #expect(await events.next() == nil)
    }
}
