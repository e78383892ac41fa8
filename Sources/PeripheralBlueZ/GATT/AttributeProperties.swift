internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The D-Bus properties of the attributes of a database.
///
/// All objects share this. Each makes its properties only when bluetoothd lists or sets them, because a
/// database can have thousands of attributes.
final class AttributeProperties: Sendable {
    private let table: AttributeTable
    private let centrals: Centrals
    private let handles: AssignedHandles
    private let paths: AttributePaths

    init(of table: AttributeTable, centrals: Centrals, handles: AssignedHandles, at paths: AttributePaths) {
        (self.table, self.centrals, self.handles, self.paths) = (table, centrals, handles, paths)
    }

    func ofService(_ service: Int, at handle: AttributeHandle) -> [ExportedProperty] {
        let description = table.services[service]
        var properties = [
            ExportedProperty("UUID", .string(description.uuid.fullDescription)),
            ExportedProperty("Primary", .bool(description.isPrimary)),
            handleProperty(of: handle, pinned: description.handle),
        ]
        if !description.includedServices.isEmpty {
            let includes = description.includedServices.map {
                BusValue.objectPath(self.paths.service($0))
            }
            properties.append(ExportedProperty("Includes", .array(of: "o", includes)))
        }
        return properties
    }

    func ofCharacteristic(
        _ characteristic: Int,
        of service: Int,
        at handle: AttributeHandle
    ) -> [ExportedProperty] {
        let description = table.services[service].characteristics[characteristic]
        // The handle follows from the handle of the service, but bluetoothd 5.74 and 5.75 do not find it.
        let pinned = table[handle].flatMap(table.pinnedHandle)
        var properties = [
            ExportedProperty("UUID", .string(description.uuid.fullDescription)),
            ExportedProperty("Service", .objectPath(paths.service(service))),
            ExportedProperty("Flags", .strings(AttributeFlags.flags(of: description))),
            // bluetoothd's answer shows that the service has been placed.
            handleProperty(of: handle, pinned: pinned, isAsked: true),
        ]
        if description.properties.allowsSubscription {
            // If this property is present, bluetoothd calls AcquireNotify.
            properties.append(ExportedProperty("NotifyAcquired", .bool(false)))
        }
        return properties
    }

    func ofDescriptor(
        _ descriptor: Int,
        of characteristic: Int,
        of service: Int,
        at handle: AttributeHandle
    ) -> [ExportedProperty] {
        let description = table.services[service].characteristics[characteristic].descriptors[descriptor]
        let parent = paths.characteristic(characteristic, of: service)
        return [
            ExportedProperty("UUID", .string(description.uuid.fullDescription)),
            ExportedProperty("Characteristic", .objectPath(parent)),
            ExportedProperty("Flags", .strings(AttributeFlags.flags(of: description))),
            handleProperty(of: handle),
        ]
    }

    /// Returns the property that contains the handle on the air.
    ///
    /// bluetoothd writes this property when it has assigned a handle.
    ///
    /// - Parameters:
    ///   - handle: The attribute, in the table.
    ///   - pinned: The requested handle; `nil` lets bluetoothd choose.
    ///   - isAsked: Whether bluetoothd chooses the handle even if it follows from the handle of the service.
    /// - Returns: The property.
    private func handleProperty(
        of handle: AttributeHandle,
        pinned: AttributeHandle? = nil,
        isAsked: Bool = false
    ) -> ExportedProperty {
        ExportedProperty(
            "Handle",
            "q",
            get: { [centrals, handles] () throws(MethodError) in
                let reportsHandles = centrals.assumeIsolated { $0.abilities.reportsHandles }
                let pinned = pinned ?? (isAsked && reportsHandles ? nil : handles[handle])
                guard pinned != nil || reportsHandles else {
                    throw MethodError(
                        .unknownProperty,
                        "this version of bluetoothd refuses an attribute without a handle"
                    )
                }
                return .uint16(pinned?.rawValue ?? 0)
            },
            set: { [centrals, handles] value in
                guard let number: UInt16 = value.integer() else { return }
                let onAir = AttributeHandle(rawValue: number)
                if handles.assign(onAir, to: handle) {
                    centrals.report(.handleAssigned(handle, onAir: onAir))
                }
            }
        )
    }
}
