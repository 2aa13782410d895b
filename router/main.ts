/**
 * The platform's entry: small, because only what is imported after this line goes through the compile cache.
 * What is started, and how, is in `start/`.
 */
import { enableCompileCache } from 'node:module'

enableCompileCache()

const { run } = await import('./start/run.ts')
await run(process.argv.slice(2))
