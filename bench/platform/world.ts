/**
 * Program with workload 2's PostgreSQL, and a database with its rows for contenders without their own. It reports `{
 * settings, databaseUrl, viewer }` to its parent; the settings are the environment in which the tests' kit finds the
 * server.
 */
import setUp from '../../test/kit/run/global-setup.ts'
import { serverUrl, serverVariable } from '../../test/kit/run/template.ts'
import { supergraph } from '../../test/kit/supergraph.ts'

const stop = await setUp()
process.on('disconnect', () => void stop().then(() => process.exit()))
const graph = await supergraph({ sandbox: true })
const { owner } = await graph.seed.owner().brand('Bench').connection().posts(5)
process.send?.({ settings: { [serverVariable]: serverUrl() }, databaseUrl: graph.database.url, viewer: owner })
