public import PeripheralKit

extension CyclingPowerService {
    /// Sends a measurement to the centrals that have subscribed, without what the features do not tell of and what a central
    /// has turned off.
    ///
    /// What does not fit into one notification is sent in several, each with the power and as much as fits, in the order of
    /// the fields. Calls must not overlap, or the parts of two measurements mix.
    ///
    /// What a central turns off lasts as long as its connection. Where the Bluetooth stack can reach it only together with
    /// others, as is told at `PeripheralSession.notify(_:_:to:)`, it gets what any of them wants.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does; after some of several parts, when a later one fails.
    public func notify(_ value: CyclingPowerMeasurement, in session: PeripheralSession) async throws {
        let subscribers = try session.subscribers(of: measurement)
        guard !subscribers.isEmpty else { return }
        var value = value
        if !tellsOffsetCompensation { value.offsetCompensationIndicator = false }
        // Who is not known may be any of those who are connected.
        let known = subscribers.compactMap(\.central)
        let centrals = known.count == subscribers.count ? known : session.centrals
        let masks = centrals.map { self.masks.mask(of: $0) }
        var common = CyclingPowerMeasurement.Content.all
        for mask in masks { common.formIntersection(mask) }
        if masks.isEmpty { common = [] }
        if known.count == subscribers.count, masks.contains(where: { $0 != common }) {
            do {
                for (central, mask) in zip(centrals, masks) {
                    try await send(value, without: mask, to: central, in: session)
                }
                return
            } catch let error as PeripheralError where error.code == .notAddressable {
                // Some may get it twice, but nobody misses it.
            }
        }
        let length = centrals.map(\.maximumUpdateValueLength).min() ?? 20
        for part in value.limited(to: content.subtracting(common)).parts(upTo: length) {
            try await session.notify(measurement, part)
        }
    }

    private func send(
        _ value: CyclingPowerMeasurement,
        without mask: CyclingPowerMeasurement.Content,
        to central: Central,
        in session: PeripheralSession
    ) async throws {
        let length = central.maximumUpdateValueLength
        do {
            for part in value.limited(to: content.subtracting(mask)).parts(upTo: length) {
                try await session.notify(measurement, part, to: central)
            }
        } catch let error as PeripheralError
            where error.code == .notSubscribed || error.code == .insufficientSecurity
        {
            // The others get it nevertheless.
        }
    }

    /// Sends a vector to the centrals that have subscribed; nothing when there are no vectors.
    ///
    /// What does not fit into one notification is sent in several, of which the first has crank and angle. Calls must not
    /// overlap, or the parts of two vectors mix.
    ///
    /// - Parameters:
    ///   - value: The vector.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does; after some of several parts, when a later one fails.
    public func notify(vector value: CyclingPowerVector, in session: PeripheralSession) async throws {
        guard let vector else { return }
        var value = value
        if !tellsDirection { value.direction = .unknown }
        let subscribers = try session.subscribers(of: vector)
        let length = subscribers.map { $0.central?.maximumUpdateValueLength ?? 20 }.min() ?? 20
        for part in value.parts(upTo: length) {
            try await session.notify(vector, part)
        }
    }
}
