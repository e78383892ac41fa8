import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct EventQueueTests {
    @Test func handsOutWhatCameInItsOrder() async {
        let queue = EventQueue<Int>()
        for element in [3, 1, 2] { queue.add(element) }
        #expect(await [queue.next(), queue.next(), queue.next()] == [3, 1, 2])
    }

    @Test func keepsOneOfAKind() async {
        let queue = EventQueue<Int>()
        for _ in 0..<10_000 { queue.add(1) }
        queue.add(2)
        #expect(await [queue.next(), queue.next()] == [1, 2])
        queue.add(1)
        #expect(await queue.next() == 1, "what was taken may come again")
    }

    @Test func theNewerOfTwoThatContradictEachOtherComesLast() async {
        let queue = EventQueue<Bool>()
        for element in [true, false, true] { queue.add(element) }
        #expect(await [queue.next(), queue.next()] == [false, true])
    }

    @Test func waitsForWhatIsStillToCome() async {
        let queue = EventQueue<Int>()
        async let sum = {
            var sum = 0
            for _ in 0..<1000 { sum += await queue.next() }
            return sum
        }()
        await withTaskGroup { group in
            for element in 1...1000 { group.addTask { queue.add(element) } }
        }
        #expect(await sum == 500_500)
    }
}
