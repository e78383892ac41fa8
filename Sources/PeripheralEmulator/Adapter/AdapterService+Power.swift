internal import PeripheralDBus
internal import PeripheralTesting

extension AdapterService {
    /// Powers the adapter on or off.
    ///
    /// Registrations stay. With extended advertising, an advertisement is on the air again only after it is
    /// registered again (recorded with Linux 6.1).
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

    /// Runs `body` after all earlier disconnections have been reported on the bus.
    func afterDisconnections(_ body: @escaping @Sendable (isolated AdapterService) -> Void) {
        connection.loop.execute { self.assumeIsolated { body($0) } }
    }

    /// Removes the adapter from the bus, like an unplugged adapter.
    func remove() async {
        await end()
        forgetDevices()
        announcePowerOff()
        withdraw([BlueZName.gattManager, BlueZName.media])
        vanish()
    }

    /// Begins to remove the adapter from the bus, like a bluetoothd that stops.
    func beginShutdown() async {
        await end()
        announcePowerOff()
        withdraw([BlueZName.media])
    }

    /// Removes the adapter from the bus after bluetoothd has ended.
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
