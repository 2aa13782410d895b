// Loaded into a program that is attacked (`--import`): at SIGUSR2 it collects garbage and writes what it holds into the file PROBE_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const file = process.env.PROBE_FILE
// What it starts is not looked into.
delete process.env.PROBE_FILE
if (file && isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  let looks = 0
  process.on('SIGUSR2', () => {
    collect()
    const { heapUsed, rss, external } = process.memoryUsage()
    const resources = {}
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
    writeFileSync(`${file}.new`, JSON.stringify({ look: ++looks, heapUsed, rss, external, resources }))
    renameSync(`${file}.new`, file)
  })
}
