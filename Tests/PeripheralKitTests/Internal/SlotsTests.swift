import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct SlotsTests {
    @Test func thoseWhoWaitEnterInTheirOrder() async throws {
        let slots = Slots(count: 1)
        let order = Log<Int>()
        try await slots.enter()
        try await withThrowingTaskGroup { group in
            for number in 0..<5 {
                group.addTask {
                    try await slots.enter()
                    order.append(number)
                    slots.leave()
                }
                try await until { slots.waiting == number + 1 }
            }
            #expect(order.entries == [])
            slots.leave()
            try await group.waitForAll()
        }
        #expect(order.entries == [0, 1, 2, 3, 4])
    }

    @Test func whoIsCancelledDoesNotEnter() async throws {
        let slots = Slots(count: 1)
        try await slots.enter()
        let cancelled = Task { try await slots.enter() }
        try await until { slots.waiting == 1 }
        let patient = Task { try await slots.enter() }
        try await until { slots.waiting == 2 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        slots.leave()
        try await patient.value
    }

    @Test func whoIsCancelledBeforeDoesNotEnterAndTakesNoPlace() async throws {
        let slots = Slots(count: 1)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await slots.enter()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await slots.enter()
    }

    @Test func closedSlotsSendEverybodyAway() async throws {
        let slots = Slots(count: 1)
        try await slots.enter()
        let waiting = Task { try await slots.enter() }
        try await until { slots.waiting == 1 }
        slots.close()
        let first = await #expect(throws: PeripheralError.self) { try await waiting.value }
        #expect(first?.code == .stopped)
        let second = await #expect(throws: PeripheralError.self) { try await slots.enter() }
        #expect(second?.code == .stopped)
    }
}
