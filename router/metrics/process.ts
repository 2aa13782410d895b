import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { registerFigures } from './figure.ts'

/**
 * Sampling interval of the event loop's delay, in ms; an idle process shows it as its lag. The usual ten would wake an
 * idle process a hundred times a second.
 */
const lookMs = 50

/**
 * Creates the registry of a process, with Node's own figures (processor time, memory, heap, event loop, garbage
 * collection) under the names common among Node services. Call it once for each process: it listens to the garbage
 * collector for the life of the process.
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
