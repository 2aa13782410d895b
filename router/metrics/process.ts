import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { registerFigures } from './figure.ts'

/** How often the event loop is looked at, in ms: an idle process shows that as its lag. Ten, as is usual, wakes an idle process a hundred times a second. */
const lookMs = 50

/**
 * Makes the one registry of a process, with what Node tells of itself (processor time, memory, heap, event loop, garbage collection) under
 * the names that other Node services have. Once for each process: it listens to the garbage collector for as long as that lives.
 */
export function openRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lookMs })
  registerFigures(registry, [
    { name: 'supergraph_processes', help: 'Processes that these figures are of: those that serve one port are told as one.', read: () => 1 },
    {
      name: 'nodejs_eventloop_utilization_ratio',
      help: 'Share of the time since the start in which the event loop was busy.',
      read: () => performance.eventLoopUtilization().utilization,
    },
  ])
  return registry
}
