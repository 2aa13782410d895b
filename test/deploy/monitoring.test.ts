import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { statusOf } from '../../platform/errors.ts'
import { jobStates } from '../../platform/jobs/queue-table.ts'
import { outcomes } from '../../router/metrics/operations.ts'
import { deliveryOutcomes } from '../../subgraphs/publishing/network/figures.ts'
import { signIn } from '../kit/client.ts'
import { freePort, launchPlatform, newDataFolder, platformEnvironment, readyLine } from '../kit/launch.ts'
import { composed, project } from './files.ts'

const read = (file: string) => readFileSync(join(project, 'deploy', 'monitoring', file), 'utf8')
interface Rule {
  readonly alert: string
  readonly expr: string
}
const { groups } = parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)
const { panels } = JSON.parse(read('dashboard.json')) as { panels: { title: string; targets: { expr: string }[] }[] }
const queries = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  // Grafana inserts a duration here.
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '1m')] as const)),
]

/** What Prometheus adds to every figure, and its own figure of whether a target answers. */
const prometheusLabels = ['instance', 'job']
const prometheusFigures = new Map([['up', new Set<string>()]])

/** The values of labels that are known beforehand: a query for any other is true of nothing. */
const values: Readonly<Record<string, readonly string[]>> = {
  outcome: [...outcomes, ...deliveryOutcomes],
  state: [...jobStates, 'used', 'idle'],
  code: Object.keys(statusOf),
  type: ['query', 'mutation', 'subscription'],
  job: ['supergraph'],
}

/** Figures of a platform that runs and has done a little of everything, each with the labels of its values. */
const figures = new Map<string, Set<string>>()
/** Its text. */
let told: string
beforeAll(async () => {
  await using folder = newDataFolder()
  const port = await freePort()
  const environment = { ...(await platformEnvironment(folder)), PORT: String(port), PUBLIC_URL: `http://localhost:${port}` }
  await launchPlatform(environment).printed(readyLine)
  const owner = await signIn(`http://localhost:${port}`)
  await owner.query('query Figures { viewer { kind } posts(first: 1) { nodes { id brand { name } } } }')
  await owner.ask('{ nothing }')
  told = await (await fetch(`http://localhost:${port}/metrics`)).text()
  for (const [, name] of told.matchAll(/^# TYPE (\S+) /gm)) figures.set(name!, new Set())
  for (const [, name, labels = ''] of told.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = figures.get(name!) ?? new Set()
    figures.set(name!, known)
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!)
  }
  for (const [name, labels] of prometheusFigures) figures.set(name, labels)
}, 60_000)

interface Selector {
  readonly figure: string
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[]
}

/** The figures that a query reads, the labels by which it groups, and where it cannot be read. */
function readQuery(query: string) {
  const selectors: Selector[] = []
  const grouped: string[] = []
  let broken: string | null = null
  const text = ({ from, to }: { from: number; to: number }) => query.slice(from, to)
  const below = (node: SyntaxNode, name: string): SyntaxNode[] => {
    const found: SyntaxNode[] = []
    node.cursor().iterate(each => void (each.name === name && found.push(each.node)))
    return found
  }
  parser.parse(query).iterate({
    enter(node) {
      if (node.type.isError) broken = `${query.slice(0, node.from)} ⟵`
      if (node.name === 'VectorSelector')
        selectors.push({
          figure: text(node.node.getChild('Identifier')!),
          matchers: below(node.node, 'UnquotedLabelMatcher').map(matcher => ({
            label: text(matcher.getChild('LabelName')!),
            op: text(matcher.getChild('MatchOp')!),
            value: text(matcher.getChild('StringLiteral')!).slice(1, -1),
          })),
        })
      if (node.name === 'GroupingLabels') grouped.push(...below(node.node, 'LabelName').map(text))
    },
  })
  return { selectors, grouped, broken }
}

describe('S-11 dashboard and alerts', () => {
  test.each(queries)('%s uses existing metrics and labels', (_title, query) => {
    const { selectors, grouped, broken } = readQuery(query)
    expect(broken).toBeNull()
    expect(selectors).not.toEqual([])
    for (const { figure, matchers } of selectors) {
      expect([...figures.keys()]).toContain(figure)
      const labels = [...figures.get(figure)!, ...prometheusLabels]
      for (const { label, op, value } of matchers) {
        expect(labels, `labels of ${figure}`).toContain(label)
        for (const each of op.includes('~') ? value.split('|') : [value]) expect(values[label], `values of ${label}`).toContain(each)
      }
      // An open subscription would show its operation.
      const shown = figure === 'supergraph_subscriptions' ? [...labels, 'operation'] : labels
      for (const label of grouped) expect(shown, `labels of ${figure}`).toContain(label)
    }
  })

  test('an alert’s counters start at zero, because Prometheus sees no increase in a series that begins with its first event', () => {
    // Callers choose operation names, so no start value can list them.
    const counted = alerts
      .flatMap(({ expr }) => readQuery(expr).selectors)
      .filter(({ figure }) => /_total$/.test(figure) && figure !== 'supergraph_operations_total')
    expect(counted.length).toBeGreaterThan(3)
    for (const { figure, matchers } of counted)
      for (const { label, value } of matchers)
        for (const each of value.split('|')) expect(told).toMatch(new RegExp(`^${figure}\\{(?:.*,)?${label}="${each}".*\\} 0$`, 'm'))
  })

  test('detects mistakes in a query', () => {
    expect(readQuery('sum(rate(things_total{a="b"}[5m])').broken).not.toBeNull()
    expect(readQuery('sum by (c) (rate(things_total{a=~"b|d"}[5m]))')).toEqual({
      selectors: [{ figure: 'things_total', matchers: [{ label: 'a', op: '=~', value: 'b|d' }] }],
      grouped: ['c'],
      broken: null,
    })
  })

  test('every alert names its receiver, and has its row in the operators’ guide', () => {
    const guide = readFileSync(join(project, 'docs', 'operating', 'observability.md'), 'utf8')
    for (const { alert, ...rule } of alerts) {
      expect(guide, alert).toContain(`| \`${alert}\` |`)
      expect(rule).toMatchObject({ labels: { severity: expect.stringMatching(/^(page|ticket)$/) }, annotations: { summary: expect.stringMatching(/\.$/) } })
    }
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  })

  test('every metric of a platform has its row in the guide for operators', () => {
    const guide = readFileSync(join(project, 'docs', 'operating', 'observability.md'), 'utf8')
    const own = [...told.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!).filter(name => !/^(?:nodejs|process)_/.test(name))
    expect(own.length).toBeGreaterThan(20)
    expect(own.filter(name => !guide.includes(`\`${name}\``))).toEqual([])
  })

  test('every process that is deployed is scraped', () => {
    const { scrape_configs } = parse(read('prometheus.yaml')) as { scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[] }
    const scraped = scrape_configs.flatMap(({ dns_sd_configs }) => dns_sd_configs.map(({ names: [name], port }) => ({ name, port })))
    const deployed = composed().map(({ name, environment }) => ({ name, port: Number(environment.PORT) }))
    expect(scraped.toSorted((a, b) => a.port - b.port)).toEqual(deployed.toSorted((a, b) => a.port - b.port))
  })
})
