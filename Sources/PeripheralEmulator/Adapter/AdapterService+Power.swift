internal import PeripheralDBus
internal import PeripheralTesting

extension AdapterService {
    /// Switches the adapter on or off.
    ///
    /// What is registered stays so. With extended advertising it is not on the air again until it is registered anew
    /// (recorded with Linux 6.1).
    func setPowered(_ isOn: Bool) {
        guard isOn != isPowered, !(isOn && controller.isBlocked) else { return }
        isPowered = isOn
        if isOn {
            if !isExtended { airAll() }
            emitChanged(BlueZName.adapter, [("Powered", .bool(true))])
        } else {
            takeAllOffAir()
            server.disconnectAll()
            afterDisconnections { $0.announcePowerOff() }
        }
    }

    /// Runs `body` once the disconnections that happened before are told on the bus.
    func afterDisconnections(_ body: @escaping @Sendable (isolated AdapterService) -> Void) {
        connection.loop.execute { self.assumeIsolated { body($0) } }
    }

    /// Vanishes as an adapter does that is unplugged.
    func remove() async {
        await end()
        forgetDevices()
        announcePowerOff()
        withdraw([BlueZName.gattManager, BlueZName.media])
        vanish()
    }

    /// Begins to vanish as an adapter does whose bluetoothd is told to end.
    func beginShutdown() async {
        await end()
        announcePowerOff()
        withdraw([BlueZName.media])
    }

    /// Vanishes, once bluetoothd itself has.
    func finishShutdown() {
        forgetDevices()
        withdraw([BlueZName.gattManager])
        vanish()
    }

    private func end() async {
        takeAllOffAir()
        server.disconnectAll()
        await untilDisconnectionsAreTold()
    }

    private func vanish() {
        withdraw([BlueZName.advertisingManager])
        releaseAdvertisements()
        withdraw([.properties, .introspectable, BlueZName.adapter])
        drop()
    }

    private func announcePowerOff() {
        emitChanged(BlueZName.adapter, [("Powered", .bool(false)), ("Discovering", .bool(false))])
    }

    private func untilDisconnectionsAreTold() async {
        await withCheckedContinuation { continuation in
            connection.loop.execute { continuation.resume() }
        }
    }

    private func withdraw(_ interfaces: [InterfaceName]) {
        connection.assumeIsolated { [path] in $0.withdraw(path, interfaces) }
    }
}
