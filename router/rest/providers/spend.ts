import { nounRoutes } from '../derive/route.ts'

export const spendRows = nounRoutes({
  select: {
    SpendLimit: `
      id level scope_type: scopeType scope_value: scopeValue period softLimitMicros hardLimit { limitMicros remainingMicros } unpriced
      spentMicros reservedMicros resetsAt alerts { kind at } note version`,
    HardLimitOption: 'scope_type: scopeType levels periods minMicros maxMicros',
  },
  // The names that earlier callers use.
  names: { scopeType: 'scope_type', scopeValue: 'scope_value' },
  routes: {
    'GET /api/limits': 'spendLimits',
    'POST /api/limits': 'createSpendLimit',
    'GET /api/limits/options': 'hardLimitOptions',
    'GET /api/limits/:id': 'spendLimit',
    'PUT /api/limits/:id': 'updateSpendLimit',
    'DELETE /api/limits/:id': 'deleteSpendLimit',
  },
})
