internal import PeripheralTesting

extension ManualClock {
    /// Advances the clock until the condition is met; fails the scenario if this never happens.
    func advance(until subject: String, _ isMet: () -> Bool) async throws {
        let patience = ContinuousClock.now + .seconds(30)
        while !isMet() {
            guard .now < patience else {
                throw ConformanceFailure(description: "\(subject): it did not happen.")
            }
            advance(by: .seconds(1))
            await Task.yield()
        }
    }
}
