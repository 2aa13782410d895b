import { variables } from '../../../engine/package/host/environment.ts'
import { runCommand } from './command.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)
const complain = (line: string) => void process.stderr.write(`${line}\n`)

runCommand(process.argv.slice(2), { print, complain, settings: variables() }).then(
  started => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void started?.stop().then(() => process.exit(0)))
  },
  cause => {
    complain((cause as Error).message.split('\n', 1)[0]!)
    process.exitCode = 1
  },
)
