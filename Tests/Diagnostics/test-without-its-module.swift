// cannot call value of non-function type '_ImportPeripheralTesting'
import PeripheralKit

let level = Characteristic<UInt8>(0x2A19, value: 1)

func check(_ peripheral: Peripheral) async throws {
    try await peripheral.test { central in
        _ = try await central.read(level)
    }
    try await peripheral.test(mtu: 23) { central, session in
        try await central.subscribe(to: level)
        try await session.notify(level, 2)
    }
}
