import { flushCompileCache } from 'node:module'
import { DomainError } from '../../../../platform/errors.ts'
import { createHivePlanner } from '../hive.ts'
import { type AskPlanner, askHere, createAskers } from '../plan-text.ts'
import type { Question, Reply } from './process.ts'

// A planner process: receives a supergraph, then the texts of one operation after the other. Its arguments name the
// planner and the memory limit.

const [, , which, mostMegabytes] = process.argv
const mostBytes = Number(mostMegabytes) * 1024 * 1024
const reply = (words: Reply) => void process.send?.(words)

// Ctrl-C in a terminal reaches every process there: the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
// Not `process.exit()`, which waits for the running plan.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

let ask: AskPlanner
const nobody = createAskers('')

process.on('message', async (question: Question) => {
  if ('sdl' in question) {
    try {
      ask = askHere(which === 'second' ? await secondPlanner(question.sdl) : createHivePlanner(question))
      reply({ ready: true })
      // It is killed, when it ends, and leaves nothing to the next one then.
      flushCompileCache()
    } catch (cause) {
      reply({ unreadable: (cause as Error).message })
    }
    return
  }
  // The memory outside this thread's heap has no limit by Node, so this check limits the whole process.
  const watch = setInterval(() => process.memoryUsage.rss() > mostBytes && reply({ swollen: true }), 50)
  try {
    reply({ made: await ask(question.texts, nobody, question.active), bytes: process.memoryUsage.rss() })
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause
    reply({ refused: { code: cause.code, message: cause.message } })
  } finally {
    clearInterval(watch)
  }
})

async function secondPlanner(sdl: string) {
  const [{ openApolloPlanner }, { readSupergraph }] = await Promise.all([import('../apollo.ts'), import('../../supergraph.ts')])
  return openApolloPlanner(readSupergraph(sdl))
}
