import PeripheralCore
import Testing

@testable import PeripheralKit

/// What is known of the updates that are queued or in flight for a subscriber.
struct RetainedDeliveryProgressTests {
    private let outbox = {
        var outbox = Outbox([])
        for value in 1...3 as ClosedRange<UInt8> {
            _ = outbox.add([value], of: 3, for: [.numbered(1)], limit: 9)
        }
        return outbox
    }()

    private func progress(_ route: RetainedDelivery.Route) -> RetainedProgress {
        var progress = RetainedProgress()
        for entry in outbox.entries { progress.begin(entry, route) }
        return progress
    }

    @Test func nothingIsLeftOfWhatWasSent() {
        var progress = progress(.alone)
        #expect(progress.ended(2, nil) == [])
        #expect(progress.ended(1, nil) == [1, 2])
        #expect(progress.next != nil)
        #expect(progress.ended(3, nil) == [3])
        #expect(progress.next == nil)
    }

    @Test func whatMissedItsCentralWasNotSent() {
        var progress = progress(.together)
        #expect(progress.ended(1, nil) == [1])
        progress.missed()
        #expect(progress.ended(2, nil) == [])
        #expect(!progress.isToBeTriedLater)
        #expect(progress.ended(3, nil) == [])
        #expect(progress.isToBeTriedLater)
    }

    @Test func whatFailsOneWayIsTriedTheOtherOnce() throws {
        for (route, code, other) in [
            (.alone, .notAddressable, .together), (.together, .insufficientSecurity, .alone),
        ] as [(RetainedDelivery.Route, PeripheralError.Code, RetainedDelivery.Route)] {
            var progress = progress(route)
            let error = PeripheralError(code: code, message: "")
            for number in 1...3 as ClosedRange<UInt64> { #expect(progress.ended(number, error) == []) }
            #expect(!progress.isToBeTriedLater)
            var next = try #require(progress.next)
            #expect(next.route == other && next.numbers == [])
            next.begin(outbox.entries[0], other)
            #expect(next.ended(1, error) == [])
            #expect(next.isToBeTriedLater)
        }
    }
}
