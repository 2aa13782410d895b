/** Reason shown for groups that are listed but unavailable, because the operator has not allowed groups. */
export const groupsAreOff = 'Facebook gives no application access to groups since April 2024, and the operator has not allowed them.'
