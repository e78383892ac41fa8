import PeripheralCore
import Testing

@testable import PeripheralKit

/// What is known of the updates on their way to a subscriber.
struct RetainedDeliveryProgressTests {
    private let outbox = {
        var outbox = Outbox([])
        for value in 1...3 as ClosedRange<UInt8> {
            _ = outbox.add([value], of: 3, for: [.numbered(1)], limit: 9)
        }
        return outbox
    }()

    private func progress(_ manner: RetainedDelivery.Manner) -> RetainedProgress {
        var progress = RetainedProgress()
        for entry in outbox.entries { progress.begin(entry, manner) }
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
        for (manner, code, other) in [
            (.alone, .notAddressable, .together), (.together, .insufficientSecurity, .alone),
        ] as [(RetainedDelivery.Manner, PeripheralError.Code, RetainedDelivery.Manner)] {
            var progress = progress(manner)
            let error = PeripheralError(code: code, message: "")
            for number in 1...3 as ClosedRange<UInt64> { #expect(progress.ended(number, error) == []) }
            #expect(!progress.isToBeTriedLater)
            var next = try #require(progress.next)
            #expect(next.manner == other && next.numbers == [])
            next.begin(outbox.entries[0], other)
            #expect(next.ended(1, error) == [])
            #expect(next.isToBeTriedLater)
        }
    }
}
