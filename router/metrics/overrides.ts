import { Counter, type Registry } from 'prom-client'
import { createNames } from './names.ts'

/** Maximum number of labels that are counted separately. */
const mostLabels = 50

/**
 * Counts requests by the labels of progressive overrides that their operations touch.
 * @returns counts one label of one request
 */
export function countOverrides(registry: Registry): (label: string, isActive: boolean) => void {
  const counter = new Counter({
    name: 'supergraph_override_requests_total',
    help: 'Requests for fields with a labelled override, by whether the label was active.',
    labelNames: ['label', 'active'],
    registers: [registry],
  })
  const names = createNames(mostLabels)
  const begun = new Set<string>()
  return (label, isActive) => {
    const name = names(label)
    if (!begun.has(name)) {
      begun.add(name)
      // Both series exist from the first request: a series that appears later shows no increase.
      for (const active of ['true', 'false']) counter.inc({ label: name, active }, 0)
    }
    counter.inc({ label: name, active: String(isActive) })
  }
}
