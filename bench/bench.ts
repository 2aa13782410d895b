import { measureEmbedded } from './embedded.ts'
import { extraNodeOptions, loadCore, pinMyself } from './processes.ts'
import { hasPeers, measureRemote } from './remote.ts'
import { tableOf } from './table.ts'

if (process.argv[5]) extraNodeOptions.push('--cpu-prof', '--cpu-prof-dir', process.argv[5])
await pinMyself(loadCore)
const only = process.argv[3] ? new RegExp(process.argv[3]) : undefined
const rounds = Number(process.argv[4] ?? 3)
if (process.argv[2] === 'remote') {
  const rows = await measureRemote({ rounds, seconds: 3, only })
  console.log(tableOf(rows, 'ms/request', ['own engine', 'own engine, semi-space 64', 'by hand', 'by hand, semi-space 64']))
}
if (process.argv[2] === 'embedded') {
  const rows = await measureEmbedded({ rounds, seconds: 1.5, only })
  console.log(tableOf(rows, 'µs/operation', ['own engine', 'one schema, graphql-jit']))
}
process.exit()
