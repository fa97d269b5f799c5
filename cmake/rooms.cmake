# SPDX-License-Identifier: Apache-2.0
# The rooms of Tilewright in dependency order: which rooms each may include, and which third-party
# headers are allowed behind its wall. The build and tests/lint/rooms.py both read this list.
# `checker` is apps/check, which is no room, since it may see none.
#   tilewright_room(<folder> DEPS <room>... WALL <third party>...)
# Every .cpp directly in the folder belongs to the room's library; the target is the folder with '_'.
tilewright_room(frontend/base       DEPS WALL fmt nlohmann_json xxhash)
tilewright_room(frontend/ir         DEPS frontend/base WALL)
tilewright_room(frontend/algebra    DEPS frontend/ir WALL gmp)
tilewright_room(frontend/language   DEPS frontend/ir WALL)
tilewright_room(schedules/units     DEPS frontend/ir WALL)
tilewright_room(schedules/machine   DEPS frontend/ir schedules/units WALL tomlplusplus)
tilewright_room(schedules/polyhedra DEPS frontend/ir WALL isl)
tilewright_room(schedules/layout    DEPS frontend/base WALL)
tilewright_room(schedules/tree      DEPS frontend/ir frontend/algebra schedules/machine schedules/polyhedra schedules/layout WALL)
tilewright_room(schedules/directives DEPS schedules/tree schedules/polyhedra schedules/machine WALL)
tilewright_room(lowering/program    DEPS frontend/ir schedules/machine schedules/units WALL)
tilewright_room(lowering/build      DEPS lowering/program schedules/tree schedules/directives schedules/polyhedra schedules/machine WALL)
tilewright_room(lowering/passes     DEPS lowering/program schedules/polyhedra WALL)
tilewright_room(lowering/check     DEPS lowering/program schedules/polyhedra WALL)
tilewright_room(lowering/proof      DEPS lowering/program lowering/check frontend/algebra schedules/polyhedra WALL)
tilewright_room(lowering/certificate DEPS lowering/proof WALL checker)
tilewright_room(lowering/mutants    DEPS lowering/program lowering/check lowering/proof WALL)
tilewright_room(lowering/llvm       DEPS lowering/program schedules/machine WALL llvm)
tilewright_room(lowering/targets/host DEPS lowering/llvm lowering/program schedules/machine WALL)
tilewright_room(lowering/targets/c DEPS lowering/program WALL)
tilewright_room(lowering/artifact   DEPS lowering/program lowering/llvm lowering/targets/host lowering/targets/c lowering/passes lowering/build WALL)
tilewright_room(apps/npy            DEPS frontend/ir WALL)
tilewright_room(apps/runner         DEPS apps/npy WALL)
