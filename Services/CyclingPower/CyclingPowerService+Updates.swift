public import PeripheralKit

extension CyclingPowerService {
    /// Sends a measurement to the subscribed centrals.
    ///
    /// The method sends only the values that the service declares in its features. For each central, the
    /// method omits the values that the central has disabled. The method omits forces if the sensor
    /// measures torques. The method omits torques if the sensor measures forces.
    ///
    /// If a measurement does not fit into one notification, the method sends several notifications. Each
    /// notification contains the power and as many other fields as fit. Wait until the method returns before
    /// you send the next measurement. Overlapping calls would mix the parts of two measurements.
    ///
    /// A value that a central has disabled stays disabled until that central enables it again, or
    /// disconnects. Some Bluetooth stacks cannot send a notification to a single subscriber (see
    /// `PeripheralSession.notify(_:_:to:fallback:)`). A notification to all subscribers omits a value only if
    /// every subscriber has disabled the value.
    ///
    /// - Parameters:
    ///   - value: The measurement.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws. An error can occur after the method has sent some
    ///   of the notifications.
    public func notify(_ value: CyclingPowerMeasurement, in session: PeripheralSession) async throws {
        var centrals: [Central] = []
        var areKnown = true
        for subscriber in try session.subscribers(of: measurement) {
            if let central = subscriber.central { centrals.append(central) } else { areKnown = false }
        }
        // An unidentified subscriber may be any of the connected centrals.
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
            // Some centrals may then receive the measurement twice, but every central receives the
            // measurement.
        }
        _ = try await send(value, without: common, upTo: length, to: nil, in: session)
    }

    /// Sends a measurement in parts to one central or to all centrals.
    ///
    /// Returns `false` when the central can only be reached together with other centrals.
    private func send(
        _ value: CyclingPowerMeasurement,
        without mask: UInt16,
        upTo length: Int,
        to central: Central?,
        in session: PeripheralSession
    ) async throws -> Bool {
        var value = value.limited(to: content.rawValue & ~mask)
        if isTorqueBased { value.forces = nil } else { value.torques = nil }
        if !reportsOffsetCompensation { value.offsetCompensationIndicator = false }
        var bit: UInt16 = 1
        repeat {
            let part = value.part(from: &bit, upTo: length)
            guard try await send(part, to: central, in: session) else { return false }
        } while bit <= CyclingPowerMeasurement.Content.all
        return true
    }

    /// Sends one part.
    ///
    /// The function is separate, because a measurement is then copied only once.
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
            // The other centrals still receive the part.
            case .notSubscribed, .disconnected, .insufficientSecurity: break
            default: throw error
            }
        }
        return true
    }

    /// Sends a vector to the subscribed centrals.
    ///
    /// Without a Cycling Power Vector characteristic, the method has no effect.
    ///
    /// The method sends a long vector in several notifications. Each notification contains at most 9 forces
    /// or torques. Only the first notification contains the crank revolutions and the crank angle. Wait until
    /// the method returns before you send the next vector. Overlapping calls would mix the parts of two
    /// vectors.
    ///
    /// The method omits torques if the sensor measures forces. The method omits forces if the sensor measures
    /// torques.
    ///
    /// - Parameters:
    ///   - value: The vector.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws. An error can occur after the method has sent some
    ///   of the notifications.
    public func notify(vector value: CyclingPowerVector, in session: PeripheralSession) async throws {
        guard let vector else { return }
        var length = 20
        for (number, subscriber) in try session.subscribers(of: vector).enumerated() {
            let own = subscriber.central?.maximumUpdateValueLength ?? 20
            length = number == 0 ? own : min(length, own)
        }
        var value = value
        if value.isOfTorques != isTorqueBased { value.magnitudes = [] }
        if !reportsDirection { value.direction = .unknown }
        repeat {
            try await session.notify(vector, value.removePart(upTo: length))
        } while !value.magnitudes.isEmpty
    }
}
