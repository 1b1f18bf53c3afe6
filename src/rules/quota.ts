/** Whether a quota allows so many more. @param most 0 = unlimited @param present how many there are */
export function hasRoom(most: number, present: number, more = 1): boolean {
  return most === 0 || present + more <= most;
}
