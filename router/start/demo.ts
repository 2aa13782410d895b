import { demoPassword, demoWorld, provideDemo } from '../../db/demo.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Home } from './home.ts'
import { openSandbox } from './sandbox.ts'
import type { Told } from './settings.ts'
import type { Process } from './startup.ts'

/** What is there to try the platform with: the sandbox, and what is to be found in the database. */
export interface Demo {
  readonly accounts: readonly string[]
  readonly password: string
  /** Origin of the sandbox. */
  readonly sandbox: string
  /** Our application at its X. */
  readonly x: NonNullable<Told['x']>
  /** What is otherwise than one would expect, a sentence each: more of them once the demo was provided. */
  readonly notices: readonly string[]
  /** Makes what is missing of the demo data. */
  provide(home: Home): Promise<void>
}

/** Opens the sandbox. */
export async function openDemo({ config, stack }: Process): Promise<Demo> {
  const sandbox = await openSandbox(config)
  stack.defer(() => sandbox.stop())
  const notices = sandbox.moved ? [sandbox.moved] : []
  return {
    accounts: demoWorld.people.map(({ email }) => email),
    password: demoPassword,
    sandbox: sandbox.origin,
    x: sandbox.x,
    notices,
    async provide({ defined: { identity, publishing }, outbound }) {
      const needs = { identity: identity!, publishing: publishing!.room, outbound, clock: systemClock, dataDir: config.dataDir, sandbox: sandbox.origin }
      notices.push(...(await provideDemo(needs)))
    },
  }
}
