internal import Synchronization

extension VirtualGATTServer {
    /// Puts an additional advertisement on the air.
    package func advertise(_ advertisement: VirtualAdvertisement) -> AdvertisementID {
        changeAir { state in
            let id = AdvertisementID(number: state.makeNumber())
            state.air[id] = advertisement
            return id
        }
    }

    /// Changes an advertisement in place; has no effect on a withdrawn one.
    package func update(_ id: AdvertisementID, to advertisement: VirtualAdvertisement) {
        changeAir { state in
            if state.air[id] != nil { state.air[id] = advertisement }
        }
    }

    /// Takes an advertisement off the air.
    package func withdraw(_ id: AdvertisementID) {
        changeAir { $0.air[id] = nil }
    }

    /// The advertisements on the air, in the order in which they were added.
    package var advertisements: [VirtualAdvertisement] {
        state.withLock { $0.air.audible }
    }

    /// Waits until a connectable advertisement is on the air.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func waitUntilConnectable() async throws {
        let id = state.withLock { $0.makeNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    // The cancellation handler may have run before the scanner was added.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.air.isConnectable { return .success(()) }
                    state.air.addScanner(continuation, id: id)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.air.removeScanner(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Changes the advertisements and wakes the centrals that wait for one.
    func changeAir<Output: Sendable>(_ change: (inout State) -> Output) -> Output {
        let (output, scanners) = state.withLock { state in
            (change(&state), state.air.takeServedScanners())
        }
        for scanner in scanners {
            scanner.resume()
        }
        return output
    }
}
