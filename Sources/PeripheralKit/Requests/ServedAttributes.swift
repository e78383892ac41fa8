internal import PeripheralCore

/// The attributes that an ``AttributeServer`` serves, with their handlers.
struct ServedAttributes {
    /// The declaration of an attribute.
    ///
    /// This is a class, so that requests share the entry instead of copying it.
    final class Entry: Sendable {
        let name: String
        let read: ReadSource?
        let write: WriteHandler?
        /// Decodes writes that are requests to a control point.
        let controlPoint: ControlPointHandler?
        let authorization: AuthorizationHandler?
        let length: ValueLength
        /// The buffer of the writes, if they are read as a stream.
        let stream: WriteBuffer?
        /// The presentation formats that an aggregate format lists.
        let formats: [AttributeHandle]
        let pace = HandlerPace()

        init(
            _ access: AttributeAccess,
            name: String,
            write: WriteHandler?,
            length: ValueLength = .any,
            stream: WriteBuffer? = nil,
            formats: [AttributeHandle] = []
        ) {
            self.name = name
            read = access.readSources.first
            self.write = write
            controlPoint = access.controlPointHandler
            authorization = access.authorizationHandlers.first
            self.length = length
            self.stream = stream
            self.formats = formats
        }
    }

    private let table: AttributeTable
    /// The entries of the attributes in `table`; `nil` if the stack serves the attribute.
    private let entries: [Entry?]
    /// The handles of services that are about to be removed.
    private(set) var closed: [ClosedRange<AttributeHandle>] = []

    /// - Parameters:
    ///   - declared: The attributes.
    ///   - earlier: The attributes until now. The entries of attributes that stay are not created again.
    ///   - write: Creates the handler of writes to a persistent value.
    init(
        of declared: DeclaredState,
        after earlier: ServedAttributes? = nil,
        writing write: (AttributeHandle, CharacteristicDeclaration) -> WriteHandler?
    ) {
        table = declared.table
        entries = declared.table.attributes.map { attribute in
            if let known = earlier?[attribute.handle] { return known }
            switch attribute.kind {
            case .characteristicValue(let service, let characteristic):
                let declaration = declared.peripheral.services[service].characteristics[characteristic]
                return Entry(declaration, at: attribute.handle, writing: write)
            case .descriptor(let service, let characteristic, let descriptor):
                let parent = declared.peripheral.services[service].characteristics[characteristic]
                let declaration = parent.descriptors[descriptor]
                return Entry(
                    declaration.access,
                    name: "descriptor \(declaration.uuid) of \(parent.name)",
                    write: declaration.access.writeHandler,
                    formats: declared.formats[attribute.handle] ?? []
                )
            default:
                return nil
            }
        }
    }

    subscript(handle: AttributeHandle) -> Entry? {
        table.index(of: handle).flatMap { entries[$0] }
    }

    /// The buffers of all streams.
    var streams: [WriteBuffer] { entries.compactMap { $0?.stream } }

    /// Returns whether the service of an attribute is about to be removed.
    func isClosed(_ handle: AttributeHandle) -> Bool {
        closed.contains { $0.contains(handle) }
    }

    /// Refuses requests for a service that is about to be removed, and ends its streams.
    mutating func close(_ handles: ClosedRange<AttributeHandle>) {
        closed.append(handles)
        for attribute in table.attributes where handles.contains(attribute.handle) {
            self[attribute.handle]?.stream?.finish()
        }
    }
}

extension ServedAttributes.Entry {
    fileprivate convenience init(
        _ declaration: CharacteristicDeclaration,
        at handle: AttributeHandle,
        writing persistentWrite: (AttributeHandle, CharacteristicDeclaration) -> WriteHandler?
    ) {
        var write = declaration.access.writeHandler
        var stream: WriteBuffer?
        if case .stream(let capacity, let check) = declaration.access.writeTargets.first {
            stream = WriteBuffer(capacity: capacity)
            write = { value, _, _ in try check(value) }
        }
        if case .persistent = declaration.access.writeTargets.first {
            write = persistentWrite(handle, declaration) ?? write
        }
        self.init(
            declaration.access,
            name: declaration.name,
            write: write,
            length: declaration.length,
            stream: stream
        )
    }

    /// - Throws: The ATT error for a central that is not authorized, or the error of the authorization
    ///   handler.
    func authorize(_ central: Central) async throws {
        guard let authorization else { return }
        guard try await authorization(central) else { throw ATTError.insufficientAuthorization }
    }
}

extension AttributeTable {
    func handle(of format: PresentationFormatIndex.Place) -> AttributeHandle {
        descriptorHandle(
            service: format.service,
            characteristic: format.characteristic,
            descriptor: format.descriptor
        )
    }
}

extension AttributeAccess {
    fileprivate var writeHandler: WriteHandler? {
        if case .handler(let handler) = writeTargets.first { handler } else { nil }
    }

    fileprivate var controlPointHandler: ControlPointHandler? {
        if case .controlPoint(let handler, _) = writeTargets.first { handler } else { nil }
    }
}
