import { parseArgs } from 'node:util'
import { startSandbox } from './server.ts'

// The sandbox as a process of its own: prints its origin as one line, and stops on TERM, Ctrl-C, or with who started it.
const usage = 'usage: node sandbox/main.ts --folder FOLDER --port PORT [--redirect-uri URI]… [--with-parent PID]'

function readArguments(): { folder: string; port: number; redirectUris: string[] | undefined; withParent: number | null } {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, port: { type: 'string' }, 'redirect-uri': { type: 'string', multiple: true }, 'with-parent': { type: 'string' } },
  })
  const port = Number(values.port)
  if (!values.folder || values.port === undefined || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error('a folder and a port from 0 to 65535 are needed')
  return {
    folder: values.folder,
    port,
    redirectUris: values['redirect-uri'],
    withParent: values['with-parent'] === undefined ? null : Number(values['with-parent']),
  }
}

try {
  const { folder, port, redirectUris, withParent } = readArguments()
  const log = { info: () => {}, error: (facts: object, message: string) => console.error(message, facts) }
  const sandbox = await startSandbox({ folder, port, log, ...(redirectUris ? { redirectUris } : {}) })
  console.log(sandbox.origin)
  // It may have ended before this one could look who that is.
  if (withParent !== null) setInterval(() => process.ppid !== withParent && void sandbox.stop(), 300).unref()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.stop())
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
  process.exitCode = 1
}
