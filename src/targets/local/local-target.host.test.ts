import { targetSuite } from '../../../test/support/target-suite.ts'
import { LocalStack } from '../../../test/support/local-stack.ts'

targetSuite('local', () => new LocalStack())
