import { nounRoutes } from '../derive/route.ts'
import { styles } from './styles.ts'

const fields = `
  id personProfileId: profile { id } number active sourceIds: sources { id } writingStyle speakingStyle
  measures { words sentences wordsPerSentence questionShare exclamationShare typeTokenRatio }
  summary model createdById: createdBy { id } createdAt`

export const styleSnapshotRows = nounRoutes({
  select: { ...styles, StyleSnapshot: fields },
  routes: {
    'GET /api/person-profiles/:id/style/changes': {
      run: 'styleChanges',
      names: { fromId: 'from', toId: 'to', personProfileId: 'id' },
      select: 'field from to',
    },
    'GET /api/person-profiles/:id/style': {
      run: 'personProfile',
      name: 'style',
      select: 'active: activeSnapshot snapshots(first: $first, after: $after) @spread',
    },
    'POST /api/person-profiles/:id/style': {
      mayBeEmpty: true,
      run: 'createStyleSnapshot',
      names: { personProfileId: 'id' },
      select: `justTaken ${fields}`,
      status: { madeWhen: 'justTaken' },
    },
  },
})
