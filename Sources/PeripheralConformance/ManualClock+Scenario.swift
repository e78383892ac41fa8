internal import PeripheralTesting

extension ManualClock {
    /// Moves on until something has come of it, and fails the scenario when nothing does.
    func advance(until subject: String, _ isMet: () -> Bool) async throws {
        let patience = ContinuousClock.now + .seconds(30)
        while !isMet() {
            guard .now < patience else {
                throw ConformanceFailure(description: "\(subject): it does not come to that.")
            }
            advance(by: .seconds(1))
            await Task.yield()
        }
    }
}
