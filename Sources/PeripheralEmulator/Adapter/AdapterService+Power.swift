internal import PeripheralDBus
internal import PeripheralTesting

extension AdapterService {
    /// Switches the adapter on or off.
    ///
    /// What is registered stays so. With extended advertising it is not on the air again until it is registered anew
    /// (recorded with Linux 6.1).
    func setPowered(_ isOn: Bool) {
        guard isOn != isPowered else { return }
        isPowered = isOn
        if isOn {
            if !isExtended { airAll() }
            emitChanged(BlueZName.adapter, [("Powered", .bool(true))])
        } else {
            takeAllOffAir()
            server.disconnectAll()
            afterDisconnections { service in
                service.emitChanged(
                    BlueZName.adapter,
                    [("Powered", .bool(false)), ("Discovering", .bool(false))]
                )
            }
        }
    }

    /// Runs `body` once the disconnections that happened before are told on the bus.
    private func afterDisconnections(_ body: @escaping @Sendable (isolated AdapterService) -> Void) {
        connection.loop.execute { self.assumeIsolated { body($0) } }
    }

    /// Vanishes as an adapter does that is unplugged, or whose bluetoothd is told to end.
    func remove() async {
        takeAllOffAir()
        server.disconnectAll()
        await untilDisconnectionsAreTold()
        forgetDevices()
        emitChanged(BlueZName.adapter, [("Powered", .bool(false)), ("Discovering", .bool(false))])
        withdraw([BlueZName.gattManager, BlueZName.media])
        withdraw([BlueZName.advertisingManager])
        releaseAdvertisements()
        withdraw([.properties, .introspectable, BlueZName.adapter])
        drop()
    }

    private func untilDisconnectionsAreTold() async {
        await withCheckedContinuation { continuation in
            connection.loop.execute { continuation.resume() }
        }
    }

    private func withdraw(_ interfaces: [InterfaceName]) {
        connection.assumeIsolated { $0.withdraw(path, interfaces) }
    }
}
