import type { StyleSnapshotRow } from '../../stores/style-snapshot.ts'

/** A field in which two snapshots differ; lists are texts with a line for each entry. */
export interface StyleChange {
  readonly field: string
  readonly from: string | null
  readonly to: string | null
}

const fields = {
  writingStyle: ['tone', 'formality', 'sentenceLength', 'vocabulary', 'dos', 'donts', 'signaturePhrases'],
  speakingStyle: ['pace', 'cadence', 'fillers', 'pronunciations'],
  measures: ['words', 'sentences', 'wordsPerSentence', 'questionShare', 'exclamationShare', 'typeTokenRatio'],
} as const

/** Number of fields that snapshots have. */
export const fieldCount = Object.values(fields).flat().length

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : Array.isArray(value) ? value.join('\n') || null : String(value)

/** Compares two snapshots of one profile, field by field. */
export function changesBetween(from: Pick<StyleSnapshotRow, keyof typeof fields>, to: Pick<StyleSnapshotRow, keyof typeof fields>): readonly StyleChange[] {
  return Object.entries(fields).flatMap(([part, names]) =>
    names.flatMap(name => {
      const read = (of: object) => textOf(((of as Record<string, unknown>)[part] as Record<string, unknown>)[name])
      const change = { field: `${part}.${name}`, from: read(from), to: read(to) }
      return change.from === change.to ? [] : [change]
    }),
  )
}
