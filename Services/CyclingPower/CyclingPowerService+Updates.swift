public import PeripheralKit

extension CyclingPowerService {
    /// Sends a measurement to the centrals that have subscribed, without what the features do not tell of and what a central
    /// has turned off: of forces and torques, those that the sensor measures.
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
        var centrals: [Central] = []
        var areKnown = true
        for subscriber in try session.subscribers(of: measurement) {
            if let central = subscriber.central { centrals.append(central) } else { areKnown = false }
        }
        // Who is not known may be any of those who are connected.
        if !areKnown { centrals = session.centrals }
        let (common, length, differ) = masks.common(of: centrals)
        if areKnown, differ {
            var areAllReached = true
            for central in centrals {
                let isReached = try await send(
                    value,
                    without: masks.mask(of: central),
                    upTo: central.maximumUpdateValueLength,
                    to: central,
                    in: session
                )
                areAllReached = areAllReached && isReached
            }
            if areAllReached { return }
            // Some get it twice then, but nobody misses it.
        }
        _ = try await send(value, without: common, upTo: length, to: nil, in: session)
    }

    /// Sends a measurement in parts to one central, or to all; `false` when the central can only be reached with others.
    private func send(
        _ value: CyclingPowerMeasurement,
        without mask: UInt16,
        upTo length: Int,
        to central: Central?,
        in session: PeripheralSession
    ) async throws -> Bool {
        var value = value.limited(to: content.rawValue & ~mask)
        if isTorqueBased { value.forces = nil } else { value.torques = nil }
        if !tellsOffsetCompensation { value.offsetCompensationIndicator = false }
        var bit: UInt16 = 1
        repeat {
            let part = value.part(from: &bit, upTo: length)
            guard try await send(part, to: central, in: session) else { return false }
        } while bit <= CyclingPowerMeasurement.Content.all
        return true
    }

    /// Sends one part; a function of its own, in which a measurement is copied once.
    @inline(never)
    private func send(
        _ part: CyclingPowerMeasurement,
        to central: Central?,
        in session: PeripheralSession
    ) async throws -> Bool {
        guard let central else {
            try await session.notify(measurement, part)
            return true
        }
        do {
            try await session.notify(measurement, part, to: central)
        } catch let error as PeripheralError {
            switch error.code {
            case .notAddressable: return false
            // The others get it nevertheless.
            case .notSubscribed, .disconnected, .insufficientSecurity: break
            default: throw error
            }
        }
        return true
    }

    /// Sends a vector to the centrals that have subscribed; nothing when there are no vectors.
    ///
    /// What does not fit into one notification, and what is more than 9 magnitudes, is sent in several, of which the first has
    /// crank and angle. Calls must not overlap, or the parts of two vectors mix. Torques of a sensor of forces are left
    /// out, and forces of one of torques.
    ///
    /// - Parameters:
    ///   - value: The vector.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does; after some of several parts, when a later one fails.
    public func notify(vector value: CyclingPowerVector, in session: PeripheralSession) async throws {
        guard let vector else { return }
        var length = 20
        for (number, subscriber) in try session.subscribers(of: vector).enumerated() {
            let own = subscriber.central?.maximumUpdateValueLength ?? 20
            length = number == 0 ? own : min(length, own)
        }
        var value = value
        if value.isOfTorques != isTorqueBased { value.magnitudes = [] }
        if !tellsDirection { value.direction = .unknown }
        repeat {
            try await session.notify(vector, value.removePart(upTo: length))
        } while !value.magnitudes.isEmpty
    }
}
