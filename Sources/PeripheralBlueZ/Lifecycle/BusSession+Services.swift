internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The steps that register and withdraw services.
extension BusSession {
    /// The number of further requests for the same free handles after a refusal.
    private static let repetitions = 2

    /// Registers an application for each group of services, and reserves the room for further services.
    ///
    /// - Returns: The groups of added services that bluetoothd has refused, with the reasons.
    /// - Throws: The failure of the declared services, a loss, or a missing answer.
    func register(
        _ groups: GroupedServices,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws -> [Int: RegistrationStateMachine.Failure] {
        let isFirst = applications.all.isEmpty
        var refused: [Int: RegistrationStateMachine.Failure] = [:]
        for group in groups.keys.inOrder().compactMap({ supervisor.services[$0] })
        // The program may have removed all services of the group meanwhile.
        where !group.handles.order.isEmpty {
            do {
                try await register(group, by: managers, on: adapter, for: supervisor)
                supervisor.log.forget(.refusedServices(group: group.number))
            } catch {
                let failure =
                    (error as? RegistrationStateMachine.Failure)
                    ?? RegistrationStateMachine.Failure(error, step: .registeringApplication)
                guard group.services.areAdded, !failure.isLoss, !failure.isOfConnection else { throw failure }
                refused[group.number] = failure
                // The program receives the refusal of its own change.
                if isFirst || group.services.areReturning {
                    reportRefusal(failure, of: group, for: supervisor)
                }
            }
        }
        try await reservation.reserveRoom(
            for: supervisor.publication.reservedHandles,
            besides: applications.all.flatMap(\.group.handles.occupied),
            in: await daemon(managers, adapter: adapter, supervisor.clock)
        )
        return refused
    }

    /// Logs that the services of a group are off the air.
    private func reportRefusal(
        _ failure: RegistrationStateMachine.Failure,
        of group: ServiceGroup,
        for supervisor: Supervisor
    ) {
        let services = group.handles.order.map { "\(group.table.services[$0].uuid)" }
        supervisor.log.report(
            .refusedServices(group: group.number),
            .warning,
            "Added services are off the air until the peripheral is published again, or until the program removes them and adds them again.",
            metadata: [
                "services": "\(services.joined(separator: ", "))",
                "peripheral.reason": .bounded(failure.message, by: "\(failure.code)"),
            ]
        )
    }

    /// Withdraws services of several applications.
    func withdraw(
        _ services: GroupedServices,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        for (number, starts) in services.sorted(by: { $0.key < $1.key }) {
            guard let application = applications[number] else { continue }
            try await withdraw(starts, of: application, by: managers, on: adapter, for: supervisor)
        }
    }

    /// Registers services at their former handles, and moves services whose former handles are not free.
    ///
    /// The function requests a handle only if no other program uses this handle. If another program used the
    /// handle, bluetoothd could mistake that program's services for those of this program, and remove them.
    private func register(
        _ group: ServiceGroup,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        let handles = group.handles
        let daemon = await daemon(managers, adapter: adapter, supervisor.clock)
        let application = Application(
            of: group,
            host: supervisor.host,
            centrals: centrals,
            version: await centrals.abilities.version,
            log: supervisor.log
        )
        // The claims of the other applications stay.
        let others = applications.all.flatMap(\.group.handles.planned)
        try await application.export(on: connection)
        handles.begin(
            besides: supervisor.services.occupied(besides: group),
            avoiding: group.services.areAdded ? await reservation.foreign : []
        )
        do {
            try await register(application, besides: others, in: daemon)
        } catch {
            handles.fail()
            // After a lost connection, there is nothing to withdraw.
            await application.withdraw(from: connection)
            await centrals.remove(application.characteristicHandles)
            // The claims for refused services would stay in the database.
            try? await reservation.releaseIdle(besides: others, in: daemon)
            throw error
        }
        if group.services.areAdded {
            if await reservation.exceedsRoom(of: supervisor.publication.reservedHandles, handles.chosen) {
                supervisor.log.report(
                    .unreservedHandles,
                    .notice,
                    """
                    Connected centrals receive additional Service Changed indications, because added services \
                    use handles that are not reserved. The reservedHandles of the peripheral reserve handles.
                    """
                )
            }
            await reservation.keepRoom(for: handles.demanded)
        }
        applications[group.number] = application
        supervisor.keep(await reservation.record)
        application.reportHandles()
    }

    private func register(
        _ application: Application,
        besides others: [ClosedRange<AttributeHandle>],
        in daemon: HandleReservation.Daemon
    ) async throws {
        let handles = application.group.handles
        var (refusals, hasMoved) = (0, false)
        while true {
            let taken = try await reservation.reserve(
                handles.demanded,
                besides: others,
                returns: handles.returns && !hasMoved,
                in: daemon
            )
            var refusal: BusError?
            hasMoved = hasMoved || !taken.isEmpty
            if taken.isEmpty {
                do throws(BusError) {
                    try await daemon.managers.registerApplication(at: application.root)
                    guard handles.isAmongClaims else { return }
                    // bluetoothd needs seconds to remove 2,000 characteristics on a slow processor.
                    try await daemon.managers.withdrawApplication(
                        at: application.root,
                        timeout: .seconds(25)
                    )
                    handles.forgetGiven()
                    try await reservation.passClaims(in: daemon)
                    continue
                } catch {
                    guard error.isConflict else { throw error }
                    refusal = error
                }
            }
            if let refusal {
                refusals += 1
                // Tries again at the same handles. First checks whether a service uses these handles, such as
                // the service that was just refused. Without this check, bluetoothd would mistake that
                // service for the new service, and remove the new service as well.
                if refusals <= Self.repetitions {
                    handles.forgetGiven()
                    await reservation.forgetChecks()
                    continue
                }
                guard handles.yield(reportsHandles: daemon.reportsHandles) else { throw refusal }
            } else if let service = handles.pinnedService(in: taken) {
                throw RegistrationStateMachine.Failure.handlesTaken(of: service, in: taken)
            } else if !handles.yield(taken), application.group.services.areAdded {
                throw RegistrationStateMachine.Failure.noHandles
            }
        }
    }

    /// Withdraws services of an application, and the application with its last service.
    private func withdraw(
        _ starts: Set<AttributeHandle>,
        of application: Application,
        by managers: AdapterManagers,
        on adapter: String,
        for supervisor: Supervisor
    ) async throws {
        let group = application.group
        let services = starts.compactMap(group.index)
        let characteristics = services.flatMap { application.characteristicHandles(ofService: $0) }
        await centrals.endUnsentUpdates(of: characteristics)
        let devices = Devices(connection: connection, adapter: try ObjectPath(adapter))
        try await endConfirmations(of: Set(characteristics), by: devices, for: supervisor)
        if group.handles.order.isEmpty {
            try await managers.withdrawApplication(at: application.root, timeout: .seconds(25))
            await application.withdraw(from: connection)
            applications[group.number] = nil
        } else {
            // The services that include others precede them.
            for service in services.inOrder(by: >) { await application.withdraw(service, from: connection) }
            await devices.untilAnswered()
        }
        await centrals.remove(characteristics)
    }

    /// The time after which bluetoothd no longer awaits a confirmation, and 1 s for the report.
    ///
    /// bluetoothd then ends the connection (`timeout_cb` in att.c).
    private static let limitOfBluetoothd = Duration.seconds(31)

    /// Waits until bluetoothd keeps no pointer to an indication of characteristics that it removes next.
    ///
    /// A central that does not confirm is disconnected. If bluetoothd refuses to disconnect the central, or
    /// does not name it, the wait continues until bluetoothd itself no longer awaits the confirmation. If a
    /// confirmation is missing even then, the removal continues. The likely reason is that this program has
    /// expected too many confirmations, and a longer wait would change nothing.
    private func endConfirmations(
        of characteristics: Set<AttributeHandle>,
        by devices: Devices,
        for supervisor: Supervisor
    ) async throws {
        let limit = BackendServices.confirmationLimit
        let rest = Self.limitOfBluetoothd - limit
        guard
            let late = await centrals.untilConfirmed(of: characteristics, within: limit, by: supervisor.clock)
        else { return }
        for central in late {
            do {
                try await devices.disconnect(central)
            } catch let error as PeripheralError where error.code != .disconnected {
                supervisor.log.report(
                    .refusedDisconnection,
                    .warning,
                    """
                    A central has not confirmed an indication of a removed service, and bluetoothd does not \
                    disconnect it (\(error.message)). The removal waits until the central confirms or leaves, \
                    for up to \(rest).
                    """,
                    metadata: ["central": "\(central)"]
                )
            } catch is PeripheralError {
                // The central has left.
            }
        }
        guard await centrals.untilConfirmed(of: characteristics, within: rest, by: supervisor.clock) != nil
        else { return }
        supervisor.log.report(
            .unconfirmedRemoval,
            .warning,
            """
            An indication of a removed service is still unconfirmed. bluetoothd may crash when the central \
            confirms it.
            """
        )
    }
}
