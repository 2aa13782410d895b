import { StartError } from '../../../start-error.ts'
import { type ListedSlug, listedSlugs } from '../registry.ts'

/** Parts of the platform that may have several replicas. */
export type Replicated = ListedSlug | 'router'

/** Maximum number of replicas of one part. */
const most = 16

/** Reads `publishing=2,router=2`; other parts have one replica. @throws StartError for anything else */
export function readReplicas(text: string): ReadonlyMap<Replicated, number> {
  const counts = new Map<Replicated, number>([...listedSlugs, 'router' as const].map(name => [name, 1]))
  for (const part of text.split(',').filter(Boolean)) {
    const [, name = '', count = ''] = /^([\w-]+)=(\d{1,3})$/.exec(part.trim()) ?? []
    if (!counts.has(name as Replicated) || Number(count) < 1 || Number(count) > most)
      throw new StartError(
        `--replicas: "${part}" is not understood: write ${[...counts.keys()].join(', ')}, each as publishing=2, from 1 to ${most}, with commas between`,
      )
    counts.set(name as Replicated, Number(count))
  }
  return counts
}
