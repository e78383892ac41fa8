import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct UpdateWindowTests {
    @Test func thoseWhoWaitEnterInTheirOrder() async throws {
        let window = UpdateWindow(size: 1)
        let order = Log<Int>()
        try await window.enter()
        try await withThrowingTaskGroup { group in
            for number in 0..<5 {
                group.addTask {
                    try await window.enter()
                    order.append(number)
                    window.leave()
                }
                while window.waiting < number + 1 { await Task.yield() }
            }
            #expect(order.entries == [])
            window.leave()
            try await group.waitForAll()
        }
        #expect(order.entries == [0, 1, 2, 3, 4])
    }

    @Test func whoIsCancelledDoesNotEnter() async throws {
        let window = UpdateWindow(size: 1)
        try await window.enter()
        let cancelled = Task { try await window.enter() }
        while window.waiting < 1 { await Task.yield() }
        let patient = Task { try await window.enter() }
        while window.waiting < 2 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        window.leave()
        try await patient.value
    }

    @Test func whoIsCancelledBeforeDoesNotEnterAndTakesNoPlace() async throws {
        let window = UpdateWindow(size: 1)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await window.enter()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await window.enter()
    }

    @Test func aClosedWindowSendsEverybodyAway() async throws {
        let window = UpdateWindow(size: 1)
        try await window.enter()
        let waiting = Task { try await window.enter() }
        while window.waiting < 1 { await Task.yield() }
        window.close()
        let first = await #expect(throws: PeripheralError.self) { try await waiting.value }
        #expect(first?.code == .stopped)
        let second = await #expect(throws: PeripheralError.self) { try await window.enter() }
        #expect(second?.code == .stopped)
    }
}
