import PeripheralKit

enum PeripheralCoreStandIns {
    static var advertisement: Advertisement { fatalError() }
    static var textFromTheUser: String { fatalError() }
}
